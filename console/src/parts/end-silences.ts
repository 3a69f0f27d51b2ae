import { send } from '../api.ts';
import { offerUndo } from './undo.ts';

/** Ends silences, and says so with an offer to undo it. `refresh` reads again what that changed. */
export async function endSilences(ids: readonly number[], refresh: () => Promise<unknown>): Promise<void> {
  const { ended } = await send<{ ended: number }>('POST', '/silences/end', { ids });
  await refresh();
  offerUndo(ended === 1 ? 'Silence ended' : `${ended.toLocaleString('en')} silences ended`, async () => {
    const { resumed } = await send<{ resumed: number }>('POST', '/silences/resume', { ids });
    await refresh();
    return resumed === 1 ? 'Silence restored' : `${resumed.toLocaleString('en')} silences restored`;
  });
}
