import type pg from 'pg';
import { inTransaction } from '../store/connect.ts';
import { instantAfter } from '../store/log/log-instant.sql.ts';
import type { EntryProperties, RecordedType } from './catalogue/catalogue.ts';

/**
 * The ticket that an entry is about, in SQL, of its `action_type` and `properties`; null = none. Code that writes entries other than
 * API requests stores it, for a ticket's history. A generated column would rewrite the whole log when it is added.
 */
export const ENTRY_TICKET = `case when action_type like 'ticket\\_%' then (properties ->> 'ticket_id')::bigint end`;

/** A change of one account. Its writes and its log entries commit together. */
export interface Change {
  readonly accountId: number;
  /** Inside the transaction. */
  readonly client: pg.ClientBase;
  /**
   * When the change happened, in PostgreSQL's format, to the microsecond. It is in a later millisecond than every entry of
   * the log so far.
   */
  readonly at: string;
  /** Who makes it: a member's name, or `command line`. */
  readonly author: string;
  /** The member who makes it; null = the command line, or a person who is not signed in. */
  readonly memberId: number | null;
  /** Adds an entry; `pagePath` is the path of the application where the action took place, such as `/team/members`. */
  record<Type extends RecordedType>(
    actionType: Type,
    pagePath: string,
    properties: EntryProperties<Type>,
  ): void;
  /** Runs a check when the whole change is written, for a rule that single steps of it may break. If it throws, nothing is kept. */
  atEnd(check: () => Promise<void>): void;
}

/** The store has no log of the account: there is no such account, or it lives in another cell. */
export class LogAbsent extends Error {}

/** Runs `work` as a change of one account. The account and the author are already determined. */
export type ChangeAccount = <T>(work: (change: Change) => Promise<T>) => Promise<T>;

const lockHead = `
  select greatest(clock_timestamp(), ${instantAfter('last_at')})::text as at
    from activity_head
   where account_id = $1
     for update`;

// The entries get consecutive ids, microseconds, and numbers among their kind. The heads advance accordingly.
const appendEntries = `
  with entry as (
    select n, action_type, page_path, properties, row_number() over (partition by action_type order by n) as type_n
      from unnest($3::text[], $4::text[], $5::jsonb[]) with ordinality as e (action_type, page_path, properties, n)
  ), type_head as (
    insert into activity_type_head as h (account_id, action_type, last_number)
    select $1, action_type, count(*) from entry group by action_type order by action_type
    on conflict (account_id, action_type) do update set last_number = h.last_number + excluded.last_number
    returning action_type, last_number
  ), head as (
    update activity_head
       set last_id = last_id + (select count(*) from entry),
           events = events + (select count(*) from entry),
           last_at = $2::timestamptz + (select count(*) from entry) * interval '1 microsecond'
     where account_id = $1
    returning last_id, events
  )
  insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties, ticket_id)
  select $1,
         head.last_id - total.entries + n,
         $2::timestamptz + n * interval '1 microsecond',
         action_type,
         page_path,
         head.events - total.entries + n,
         type_head.last_number - total.of_type + type_n,
         properties,
         ${ENTRY_TICKET}
    from head, entry
    join type_head using (action_type)
    join (select action_type, count(*) as of_type, sum(count(*)) over ()::bigint as entries
            from entry group by action_type) total using (action_type)`;

/**
 * Changes an account in one transaction: `work` writes through `change.client` and logs through `change.record`. It
 * locks the account's log from the start, so keep it short: the account's requests wait. Throws {@link LogAbsent}, and
 * what `work` throws; then nothing is written.
 */
export function changeAccount<T>(
  writer: pg.Pool,
  accountId: number,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  return inTransaction(writer, (client) => changeWithin(client, accountId, work));
}

/** {@link changeAccount} inside the caller's transaction, such as the one that creates the account. */
export async function changeWithin<T>(
  client: pg.ClientBase,
  accountId: number,
  work: (change: Change) => Promise<T>,
): Promise<T> {
  const { rows } = await client.query<{ at: string }>(lockHead, [accountId]);
  const at = rows[0]?.at;
  if (at === undefined) throw new LogAbsent(`There is no account ${accountId}.`);
  const checks: (() => Promise<void>)[] = [];
  const entries: { actionType: RecordedType; pagePath: string; properties: string }[] = [];
  const result = await work({
    accountId,
    client,
    at,
    author: 'command line',
    memberId: null,
    record: (actionType, pagePath, properties) => {
      entries.push({ actionType, pagePath, properties: JSON.stringify(properties) });
    },
    atEnd: (check) => {
      checks.push(check);
    },
  });
  for (const check of checks) await check();
  if (entries.length > 0) {
    await client.query(appendEntries, [
      accountId,
      at,
      entries.map((entry) => entry.actionType),
      entries.map((entry) => entry.pagePath),
      entries.map((entry) => entry.properties),
    ]);
  }
  return result;
}
