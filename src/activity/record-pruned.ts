import type pg from 'pg';
import { mayStartWork } from '../store/cells/moving.sql.ts';
import { eachAccount } from './each-account.ts';
import { changeAccount } from './record-entry.ts';

// Recorded at most once a day, however often a log is pruned.
const notRecorded = `told_id < first_id - 1 and (told_at is null or told_at < now() - interval '24 hours')`;

const unrecordedLogs = `
  select account_id
    from activity_floor f
   where ${notRecorded}
     and ${mayStartWork('f.account_id')}
   order by account_id`;

const markRecorded = `
  with cut as (
    select first_id - 1 as up_to_id, first_id - 1 - told_id as entries
      from activity_floor
     where account_id = $1 and ${notRecorded}
       for update
  ), marked as (
    update activity_floor set told_id = cut.up_to_id, told_at = now() from cut where account_id = $1
  )
  select up_to_id, entries from cut`;

/**
 * Records `activity_pruned` in each log that was pruned since the last such entry, at most once a day. `up_to_id` is
 * the last deleted entry, `entries` the number deleted since the last record. After a failure, the next call records
 * it.
 */
export async function recordPruned(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query<{ account_id: number }>(unrecordedLogs);
  const ids = rows.map(({ account_id }) => account_id);
  await eachAccount(ids, (accountId) =>
    changeAccount(owner, accountId, async ({ client, record }) => {
      const cut = await client.query<{ up_to_id: number; entries: number }>(markRecorded, [accountId]);
      for (const pruned of cut.rows) record('activity_pruned', '/activity', { ...pruned });
    }),
  );
}
