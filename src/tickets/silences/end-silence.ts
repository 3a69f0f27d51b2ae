import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { storeChangesOfMany } from '../../runs/changes/store-changes.ts';
import { recordSilences } from './record-silences.ts';
import { silenceChange } from './silence-change.ts';
import { type SilenceRow, silenceColumns } from './silence-row.ts';

const end = `
  update silence
     set ends_at = $3, ended_at = $3, until_before = ends_at
   where account_id = $1 and silence_id = any($2::bigint[]) and (ends_at is null or ends_at > $3)
  returning ${silenceColumns}`;

const known = 'select silence_id as id from silence where account_id = $1 and silence_id = any($2::bigint[])';

/** The most silences of one change: it holds the account's log. */
export const MOST_SILENCES = 1_000;

/** Ends a silence: the next run reports its findings again. Throws `notFound`. */
export async function endSilence(
  change: ChangeAccount,
  silenceId: number,
  actor: Record<string, unknown> = {},
): Promise<SilenceRow> {
  return change(async (inside) => {
    const [silence] = await endSilences((work) => work(inside), [silenceId], actor);
    if (!silence) throw notFound('active silence', silenceId, ': see "silence list".');
    return silence;
  });
}

/** Ends several silences, and returns those that had not ended yet. Throws `notFound` if the account has not all of them. */
export async function endSilences(
  change: ChangeAccount,
  silenceIds: readonly number[],
  actor: Record<string, unknown> = {},
): Promise<SilenceRow[]> {
  return change(async (within) => {
    const { accountId, client, at, author } = within;
    const { rows: stored } = await client.query<{ id: number }>(known, [accountId, silenceIds]);
    const missing = silenceIds.find((wanted) => !stored.some(({ id }) => id === wanted));
    if (missing !== undefined) throw notFound('active silence', missing, ': see "silence list".');
    const { rows: silences } = await client.query<SilenceRow>(end, [accountId, silenceIds, at]);
    const changes = silences.map((silence) => ({
      ...silenceChange('went', silence, author),
      connectionId: silence.connection_id,
    }));
    await storeChangesOfMany(client, { accountId, at }, changes);
    await recordSilences(within, 'silence_ended', silences, actor);
    return silences;
  });
}
