import type pg from 'pg';
import { BACKED_UP } from '../../backup/backup-tables.ts';

/**
 * The tables with a column account_id that stay where they are: those of the control store, what each cell knows of
 * moves, and attempts with refused keys, which are recorded within a minute.
 */
export const STAY: readonly string[] = [
  'login',
  'session',
  'directory_account',
  'directory_key',
  'account_move',
  'refused_key',
];

/** Other copied rows refer to these, so they are copied first, and updated at the end. */
const REFERENCED = ['account', 'connection', 'api_key'];

/** The log only grows, so its rows are copied once, in the order of their numbers. */
const GROWING = ['activity', 'activity_leaves', 'activity_seal'];

/**
 * Tables with many rows. They are copied while the account is in use, and rows that changed since are copied again. No
 * copied row may refer to them, except from a table that is copied at the end.
 */
const LARGE = [
  'health_check',
  'ticket',
  'ticket_update',
  'connection_change',
  'query_hour',
  'key_hour',
  'key_day',
  'measure_series',
  'measure_latest',
  'measure_run',
  'measure_five_minutes',
  'measure_hour',
  'measure_day',
  'counter_sample',
  'fact_snapshot',
  'query_state',
  'query_text',
  'blocking_episode',
  'deadlock',
  'session_load_source',
  'session_load',
  'event',
  'delivery',
  'delivery_message',
  'delivery_attempt',
];

/** Their rows move by way of account_move: only the cell that has them admits requests. */
export const GATE: readonly string[] = ['activity_head', 'key_window'];

/** How the rows of a table get to the other cell. `rest` = all of them at the end. */
type Way = 'referenced' | 'growing' | 'large' | 'rest';

/** A table of which an account's rows move. */
export interface MovedTable {
  readonly name: string;
  readonly way: Way;
  /** Quoted names of the columns that are not computed. */
  readonly columns: readonly string[];
  /** The primary key without account_id, with the types of its columns. */
  readonly key: readonly { readonly name: string; readonly type: string }[];
  /** The column that numbers its rows in the whole cell; null = none. */
  readonly identity: string | null;
  /** Whether a command or page finds its rows by that number alone: then the number leads an index. */
  readonly isNamed: boolean;
}

// The rest of a backup's order: each table after those that it refers to.
const NOT_OF_ACCOUNTS = ['passkey', 'cell', 'unsubscribed'];

/** The names of the tables that move, each after the tables that it refers to. */
export const MOVED: readonly string[] = [
  ...REFERENCED,
  ...GROWING,
  ...LARGE,
  ...[...BACKED_UP, 'link'].filter(
    (name) => ![...STAY, ...NOT_OF_ACCOUNTS, ...REFERENCED, ...GROWING, ...LARGE, ...GATE].includes(name),
  ),
];

const selectTables = `
  select c.relname as name,
         array(select quote_ident(a.attname) from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                order by a.attnum) as columns,
         (select jsonb_agg(jsonb_build_object('name', quote_ident(a.attname), 'type', format_type(a.atttypid, a.atttypmod))
                           order by k.place)
            from pg_index i
           cross join unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
            join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
           where i.indrelid = c.oid and i.indisprimary and a.attname <> 'account_id') as key,
         (select quote_ident(a.attname) from pg_attribute a
           where a.attrelid = c.oid and a.attidentity <> '' and a.attname <> 'account_id') as identity,
         exists (select from pg_index i
                   join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
                  where i.indrelid = c.oid and a.attidentity <> '' and a.attname <> 'account_id') as "isNamed"
    from unnest($1::text[]) with ordinality as wanted (name, place)
    join pg_class c on c.oid = to_regclass(wanted.name)
   order by wanted.place`;

/** Reads the tables that move from a store's catalogue, in the order of {@link MOVED}. */
export async function readMovedTables(client: pg.ClientBase): Promise<MovedTable[]> {
  const { rows } = await client.query<Omit<MovedTable, 'way' | 'key'> & { key: MovedTable['key'] | null }>(
    selectTables,
    [MOVED],
  );
  return rows.map((row) => ({ ...row, key: row.key ?? [], way: wayOf(row.name) }));
}

function wayOf(name: string): Way {
  if (REFERENCED.includes(name)) return 'referenced';
  if (GROWING.includes(name)) return 'growing';
  return LARGE.includes(name) ? 'large' : 'rest';
}
