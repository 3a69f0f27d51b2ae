import type pg from 'pg';
import { eachAccount } from '../../activity/each-account.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';

/** A stream that lacks entries of the log. */
interface UndeliveredEntries {
  destination_id: number;
  name: string;
  channel: string;
  target: string;
  first_id: number;
  last_id: number;
}

// What seals release is deleted, unless a stream needs it and the log has not said so for a week (activity/prune-entries.ts).
const releasedStreams = `
  select s.account_id, s.destination_id, s.next_id as first_id, released.cut_to as last_id, d.name, d.channel, d.target
    from log_stream s
    join destination d using (account_id, destination_id)
    join lateral (select cut_to from activity_seal
                   where account_id = s.account_id order by number desc limit 1) released on s.next_id <= released.cut_to
   where s.warned_at is null and d.removed_at is null and ${mayStartWork('s.account_id')}`;

const warn = `
  with late as (${releasedStreams} and s.account_id = $1)
  update log_stream s
     set warned_at = now()
    from late
   where s.account_id = late.account_id and s.destination_id = late.destination_id
  returning late.destination_id, late.name, late.channel, late.target, late.first_id, late.last_id,
            now() + interval '7 days' as deletes_after`;

const prunedStreams = `
  select s.account_id, s.destination_id, s.next_id as first_id, f.first_id - 1 as last_id, d.name, d.channel, d.target
    from log_stream s
    join destination d using (account_id, destination_id)
    join activity_floor f on f.account_id = s.account_id and s.next_id < f.first_id
   where d.removed_at is null and ${mayStartWork('s.account_id')}`;

const skip = `
  with missed as (${prunedStreams} and s.account_id = $1)
  update log_stream s
     set next_id = missed.last_id + 1, scanned_id = greatest(s.scanned_id, missed.last_id), batch_id = null, warned_at = null
    from missed
   where s.account_id = missed.account_id and s.destination_id = missed.destination_id
  returning missed.destination_id, missed.name, missed.channel, missed.target, missed.first_id, missed.last_id`;

const forgetWarnings = `
  update log_stream s
     set warned_at = null
   where warned_at is not null
     and ${mayStartWork('s.account_id')}
     and next_id > coalesce((select cut_to from activity_seal
                              where account_id = s.account_id order by number desc limit 1), 0)`;

/**
 * Records `log_stream_behind` for each stream that lacks entries which retention would delete now: they stay for a week more. A
 * stream that has caught up is warned of again when it falls behind.
 */
export async function warnOfUndelivered(owner: pg.Pool): Promise<void> {
  await owner.query(forgetWarnings);
  await recordForAccounts(owner, releasedStreams, async (accountId) => {
    await changeAccount(owner, accountId, async ({ client, record }) => {
      const { rows } = await client.query<UndeliveredEntries & { deletes_after: Date }>(warn, [accountId]);
      for (const entries of rows)
        record('log_stream_behind', PAGE_LINKS.destination(entries.destination_id), { ...entries });
    });
  });
}

/** Records `log_stream_missed` for each stream whose next entries were deleted, and moves it behind them. */
export async function recordMissed(owner: pg.Pool): Promise<void> {
  await recordForAccounts(owner, prunedStreams, async (accountId) => {
    await changeAccount(owner, accountId, async ({ client, record }) => {
      const { rows } = await client.query<UndeliveredEntries>(skip, [accountId]);
      for (const entries of rows)
        record('log_stream_missed', PAGE_LINKS.destination(entries.destination_id), { ...entries });
    });
  });
}

async function recordForAccounts(
  owner: pg.Pool,
  streams: string,
  work: (accountId: number) => Promise<void>,
): Promise<void> {
  const { rows } = await owner.query<{ account_id: number }>(
    `select distinct account_id from (${streams}) stream order by account_id`,
  );
  await eachAccount(
    rows.map(({ account_id }) => account_id),
    work,
  );
}
