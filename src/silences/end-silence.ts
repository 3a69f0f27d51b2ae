import type { ChangeAccount } from '../activity/record-entry.ts';
import { storeChanges } from '../changes/store-changes.ts';
import { silenceChange } from './silence-change.ts';
import { NoSilence, pageOf, propertiesOf, type SilenceRow, silenceColumns } from './silence-row.ts';

const end = `
  update silence
     set ends_at = $3
   where account_id = $1 and silence_id = $2 and (ends_at is null or ends_at > $3)
  returning ${silenceColumns}`;

/** Ends a silence: the next run reports its findings again. Throws {@link NoSilence}. */
export async function endSilence(
  change: ChangeAccount,
  silenceId: number,
  actor: Record<string, unknown> = {},
): Promise<SilenceRow> {
  return change(async ({ accountId, client, at, author, record }) => {
    const { rows } = await client.query<SilenceRow>(end, [accountId, silenceId, at]);
    const [silence] = rows;
    if (!silence) throw new NoSilence(silenceId);
    const scope = { accountId, connectionId: silence.connection_id, at };
    await storeChanges(client, scope, [silenceChange('went', silence, author)]);
    record('silence_ended', pageOf(silence), { ...propertiesOf(silence), ...actor });
    return silence;
  });
}
