import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import { queueEvents } from '../../notifications/outbox/queue-events.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';

// The first reminder comes in the last 14 days, or the last quarter of a shorter life, as the console warns; the second on
// the last day. A key that lives less than a week is made by a program, and one that was replaced needs nobody.
const dueReminders = `
  select k.account_id, k.api_key_id, d.reminders
    from api_key k
    cross join lateral (
      select case when k.expires_at < clock_timestamp() + interval '1 day' then 2
                  when k.expires_at < clock_timestamp() + least(interval '14 days', (k.expires_at - k.created_at) / 4) then 1
                  else 0 end as reminders) d
   where k.valid_until > clock_timestamp() and k.replaced_by is null
     and k.expires_at - k.created_at >= interval '7 days' and k.expiry_reminders < d.reminders`;

const selectDue = `
  select distinct account_id
    from (${dueReminders}) due
   where ${mayStartWork('due.account_id')}
   order by account_id`;

const markReminded = `
  with due as (${dueReminders} and k.account_id = $1)
  update api_key k
     set expiry_reminders = due.reminders
    from due
   where k.account_id = $1 and k.api_key_id = due.api_key_id
  returning k.api_key_id as id, k.name, k.last_four, k.expires_at,
            (select last_used_at from key_window w
              where w.account_id = k.account_id and w.api_key_id = k.api_key_id) as last_used_at`;

interface ExpiringKey {
  id: number;
  name: string;
  last_four: string;
  expires_at: Date;
  last_used_at: Date | null;
}

/**
 * Reminds each account of its keys that expire soon, at most twice for each key: `api_key_expiring` in the log, and an event
 * for the destinations that chose it. Any number of processes may run this. One account's failure does not keep the others from
 * theirs: it is thrown after them.
 */
export async function* remindOfExpiry(owner: pg.Pool): AsyncGenerator<void> {
  const { rows: accounts } = await owner.query<{ account_id: number }>(selectDue);
  const failures: unknown[] = [];
  for (const { account_id: accountId } of accounts) {
    await changeAccount(owner, accountId, async ({ client, at, record }) => {
      // Under the account's lock, so that of two processes one finds nothing left.
      const { rows: keys } = await client.query<ExpiringKey>(markReminded, [accountId]);
      for (const { id, ...key } of keys) record('api_key_expiring', '/keys', { api_key_id: id, ...key });
      await queueEvents(client, { accountId, at }, keys.map(eventOf));
    }).catch((error: unknown) => failures.push(error));
    yield;
  }
  if (failures.length > 0) throw failures[0];
}

function eventOf({ id, name, last_four, expires_at, last_used_at }: ExpiringKey) {
  const day = expires_at.toISOString().slice(0, 10);
  const used = last_used_at ? `last used ${last_used_at.toISOString().slice(0, 10)}` : 'never used';
  const data = { api_key_id: id, name, last_four, expires_at, last_used_at };
  const nothing = { connection: null, check_id: null, database: '', object: null, measured: null };
  return {
    kind: 'api_key.expiring' as const,
    severity: 'warning' as const,
    connection: null,
    data,
    details: {
      ...nothing,
      since: null,
      resolution: null,
      page: PAGE_LINKS.key(id),
      title: `The API key ${name} expires on ${day}`,
      metric_line: `dbv_live_…${last_four}, ${used}`,
      remediation:
        'Regenerate the key with an overlap, and give the new one to its client. If nobody needs it, revoke it.',
    },
  };
}
