import type pg from 'pg';
import { eachAccount } from '../../activity/each-account.ts';
import { changeWithin } from '../../activity/record-entry.ts';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import { inTransaction } from '../../store/connect.ts';
import { one } from '../../store/one.ts';

/** The most entries in one transaction, which takes the lock that the account's requests take. */
const ENTRIES = 500;

// An end is logged when it is a second old. As a transaction logs all ends so far, the account's next one starts a second
// later at the earliest, whichever process writes it.
const selectAccounts = `
  select distinct account_id
    from delivery v
   where ended_at <= clock_timestamp() - $1 * interval '1 s' and not is_logged
     and ${mayStartWork('v.account_id')}
   order by account_id`;

// Two processes that find the same account: one writes.
const lockLog = `select pg_try_advisory_xact_lock(hashtextextended('dbvitals deliveries', $1)) as locked`;

const takeEnds = `
  with ended as materialized (
    select account_id, destination_id, delivery_id
      from delivery
     where account_id = $1 and ended_at is not null and not is_logged
     order by ended_at, delivery_id
     limit ${ENTRIES}
       for update
  ), taken as (
    update delivery v
       set is_logged = true
      from ended e
     where v.account_id = e.account_id and v.destination_id = e.destination_id and v.delivery_id = e.delivery_id
    returning v.*
  )
  select t.delivery_id, t.destination_id, d.name as destination, t.event_id, e.kind, t.sequence, t.epoch, t.state, t.status,
         t.attempts, t.reason,
         case when t.attempts > 0 then encode(sha256(convert_to(coalesce(m.body, e.body), 'UTF8')), 'hex') end as body_sha256
    from taken t
    join destination d on d.account_id = t.account_id and d.destination_id = t.destination_id
    left join event e on e.account_id = t.account_id and e.event_id = t.event_id
    left join delivery_message m
      on m.account_id = t.account_id and m.destination_id = t.destination_id and m.message_id = t.message_id
   order by t.ended_at, t.delivery_id`;

interface EndedDelivery {
  delivery_id: number;
  destination_id: number;
  destination: string;
  event_id: string;
  kind: string;
  epoch: string;
  sequence: number;
  state: 'accepted' | 'given_up' | 'cancelled';
  status: number | null;
  attempts: number;
  reason: string | null;
  /** Of what was sent; null = nothing was. */
  body_sha256: string | null;
}

/** How old an end is before it is logged, in seconds. */
const AGE = 1;

/**
 * Writes the ends of deliveries into the logs of their accounts, exactly one entry each: in at most one transaction per
 * account and second, however many processes do so. One account's failure does not keep the others waiting: it is thrown
 * after them. With `age` 0 it also writes the ends of this second, before a process stops. Returns the number of entries.
 */
export async function logEnds(writer: pg.Pool, age = AGE): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(selectAccounts, [age]);
  let entries = 0;
  const accountIds = rows.map(({ account_id }) => account_id);
  await eachAccount(accountIds, async (accountId) => {
    entries += await logEndsOf(writer, accountId);
  });
  return entries;
}

function logEndsOf(writer: pg.Pool, accountId: number): Promise<number> {
  return inTransaction(writer, async (client) => {
    const lock = await client.query<{ locked: boolean }>(lockLog, [accountId]);
    if (!one(lock.rows, 'lock the log of deliveries').locked) return 0;
    return changeWithin(client, accountId, async ({ record }) => {
      const { rows } = await client.query<EndedDelivery>(takeEnds, [accountId]);
      for (const { state, delivery_id, ...ended } of rows)
        record(`delivery_${state}`, `/notifications/${ended.destination_id}`, { delivery_id, ...ended });
      return rows.length;
    });
  });
}
