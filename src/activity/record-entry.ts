import type pg from 'pg';
import { inTransaction } from '../database/connect.ts';
import type { ACTION_TYPES } from './action-types.ts';

/** The action types besides API requests. Readers treat it as an open set. */
export type ActionType = Exclude<(typeof ACTION_TYPES)[number], 'api_request'>;

/** A change of one account. Its writes and its log entries commit together. */
export interface Change {
  readonly accountId: number;
  /** Inside the transaction. */
  readonly client: pg.ClientBase;
  /**
   * When the change happened, in PostgreSQL's format, to the microsecond. It is later than every entry of the log so
   * far.
   */
  readonly at: string;
  /** Who makes it: a member's name, or `command line`. */
  readonly author: string;
  /** Adds an entry; `pagePath` is the path of the application where the action took place, such as `/team/members`. */
  record(actionType: ActionType, pagePath: string, properties: Record<string, unknown>): void;
}

/** The store has no log of the account: there is no such account, or it lives in another cell. */
export class LogAbsent extends Error {}

/** Runs `work` as a change of one account. The account and the author are already determined. */
export type ChangeAccount = <T>(work: (change: Change) => Promise<T>) => Promise<T>;

const lockHead = `
  select greatest(clock_timestamp(), last_at + interval '1 microsecond')::text as at
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
  insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties)
  select $1,
         head.last_id - total.entries + n,
         $2::timestamptz + n * interval '1 microsecond',
         action_type,
         page_path,
         head.events - total.entries + n,
         type_head.last_number - total.of_type + type_n,
         properties
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
  const entries: { actionType: ActionType; pagePath: string; properties: string }[] = [];
  const result = await work({
    accountId,
    client,
    at,
    author: 'command line',
    record: (actionType, pagePath, properties) => {
      entries.push({ actionType, pagePath, properties: JSON.stringify(properties) });
    },
  });
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
