import type pg from 'pg';
import { changeAccount } from './record-entry.ts';

// Told once a day, however often a log is cut.
const untold = `told_id < first_id - 1 and (told_at is null or told_at < now() - interval '24 hours')`;

const untoldLogs = `select account_id from activity_floor where ${untold} order by account_id`;

const tellOfCut = `
  with cut as (
    select first_id - 1 as up_to_id, first_id - 1 - told_id as entries
      from activity_floor
     where account_id = $1 and ${untold}
       for update
  ), told as (
    update activity_floor set told_id = cut.up_to_id, told_at = now() from cut where account_id = $1
  )
  select up_to_id, entries from cut`;

/**
 * Records `activity_pruned` in each log that was cut since the last such entry, at most once a day: `up_to_id` is the
 * last entry that is gone, `entries` how many went since then. What could not be told stays untold until the next time.
 */
export async function recordPruned(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query<{ account_id: number }>(untoldLogs);
  for (const { account_id } of rows) {
    await changeAccount(owner, account_id, async ({ client, record }) => {
      const cut = await client.query<{ up_to_id: number; entries: number }>(tellOfCut, [account_id]);
      for (const told of cut.rows) record('activity_pruned', '/activity', { ...told });
    });
  }
}
