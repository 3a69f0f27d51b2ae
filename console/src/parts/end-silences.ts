import { send } from '../api.ts';
import { notify } from './announcer.tsx';
import { offerUndo } from './undo.ts';

/** Ends silences, and says so with an offer to undo it. `refresh` reads again what that changed. */
export async function endSilences(ids: readonly number[], refresh: () => Promise<unknown>): Promise<void> {
  // Others may have ended some of them meanwhile: those stay ended.
  const { ended } = await send<{ ended: number[] }>('POST', '/silences/end', { ids });
  await refresh();
  const said = ended.length === 1 ? 'Silence ended' : `${ended.length.toLocaleString('en')} silences ended`;
  if (ended.length === 0) return notify('The silences have already ended');
  offerUndo(said, async () => {
    const { resumed } = await send<{ resumed: number }>('POST', '/silences/resume', { ids: ended });
    await refresh();
    if (resumed === 0)
      throw new Error('The silences ended more than an hour ago, or their connection was removed.');
    return resumed === 1 ? 'Silence restored' : `${resumed.toLocaleString('en')} silences restored`;
  });
}
