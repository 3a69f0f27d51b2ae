import type pg from 'pg';
import { inTransaction } from '../../store/connect.ts';
import type { History } from './sample-fleet.ts';

// An account without API requests was never read through the API. Only creation dates are moved, and no further than
// needed. Sealed entries stay unchanged.
const lockUnread = `
  select h.last_id = h.events
     and not exists (select from health_check c where c.account_id = $1)
     and not exists (select from ticket t where t.account_id = $1)
     and not exists (select from activity_seal s where s.account_id = $1)
     and not exists (select from activity a
                      where a.account_id = $1
                        and a.action_type not in ('account_created', 'api_key_created', 'connection_added', 'member_added'))
      as unread,
         greatest(interval '0',
                  greatest(h.last_at, a.created_at) - (clock_timestamp() - make_interval(days => $2)))::text as too_young
    from activity_head h
    join account a using (account_id)
   where h.account_id = $1
     for update of h`;

const moveBack = [
  'update activity set occurred_at = occurred_at - $2::interval where account_id = $1',
  'update activity_head set last_at = last_at - $2::interval where account_id = $1 and isfinite(last_at)',
  'update account set created_at = created_at - $2::interval where account_id = $1',
  'update api_key set created_at = created_at - $2::interval where account_id = $1',
  'update connection set created_at = created_at - $2::interval where account_id = $1',
  'update member set joined_at = joined_at - $2::interval where account_id = $1',
];

// The history starts after the last entry and the newest ticket. It lasts at least a second plus a microsecond per
// entry.
const readHistory = `
  with span as (
    select a.plan, greatest(h.last_at, clock_timestamp() - make_interval(days => $2),
                            (select first_seen_at from ticket where account_id = $1 order by number desc limit 1)) as start
      from account a
      join activity_head h using (account_id)
     where a.account_id = $1
  )
  select plan, (extract(epoch from start) * 1000000)::bigint as start,
         (extract(epoch from greatest(clock_timestamp(), start + (1000000 + $3::bigint) * interval '1 microsecond'))
           * 1000000)::bigint as end
    from span`;

/**
 * Makes room in an account for a history of `days` days and `activity` entries. If nobody has read the account yet,
 * it first dates its set-up back, as the owner. Returns the account's plan, and the start and end of the history.
 * Throws if there is no such account.
 */
export async function openHistory(
  owner: pg.Pool,
  accountId: number,
  { days, activity }: { days: number; activity: number },
): Promise<{ plan: string; history: History }> {
  return inTransaction(owner, async (client) => {
    const { rows } = await client.query<{ unread: boolean; too_young: string }>(lockUnread, [
      accountId,
      days,
    ]);
    const [account] = rows;
    for (const statement of account?.unread ? moveBack : []) {
      await client.query(statement, [accountId, account?.too_young]);
    }
    const values = [accountId, days, activity];
    const [row] = (await client.query<History & { plan: string }>(readHistory, values)).rows;
    if (row === undefined) throw new Error(`There is no account ${accountId}.`);
    const { plan, start, end } = row;
    return { plan, history: { start, end } };
  });
}
