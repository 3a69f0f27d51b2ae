import type { ServerFacts } from '../check.ts';
import { numberIn } from '../columns.ts';
import type { Row } from '../fault.ts';

/**
 * How many times autovacuum must have looked at a database while a table was above its trigger: dbvitals' own. It looks once
 * per autovacuum_naptime, and its workers may be busy with other tables.
 */
export const AUTOVACUUM_TIME = { naps: 10 };

/** Columns for {@link hasHadTime}; `c` is a row of pg_class. */
export const autovacuumColumns = `
         current_setting('autovacuum')::bool
           and not exists (select from pg_options_to_table(c.reloptions)
                            where option_name = 'autovacuum_enabled' and not option_value::bool) as autovacuum,
         ${lastLook('c.oid')} is not null as visited,
         (select setting::float8 from pg_settings where name = 'autovacuum_naptime') as nap`;

/** Expression: when a table was last vacuumed or analyzed, by anyone; null if never since its statistics have been counted. */
export function lastLook(oid: string): string {
  const times = ['last_vacuum', 'last_autovacuum', 'last_analyze', 'last_autoanalyze'];
  return `greatest(${times.map((time) => `pg_stat_get_${time}_time(${oid})`).join(', ')})`;
}

const LONG_AGO = 1e9;

/**
 * Seconds that a table has been above autovacuum's trigger in all runs. In a first run nobody knows: one that was vacuumed
 * or analyzed before counts as long above it, and any other as new.
 */
function secondsAbove(row: Row, before: ServerFacts['before']): number {
  if (!before) return row['visited'] === true ? LONG_AGO : 0;
  const last = before.rows.find(({ table_name }) => table_name === row['table_name']);
  return last === undefined ? 0 : numberIn(last, 'seconds_above') + before.seconds;
}

/** Whether autovacuum has had time for a table above its trigger. It needs none where it is off. */
export function hasHadTime(
  row: Row,
  { before, thresholds }: Pick<ServerFacts<typeof AUTOVACUUM_TIME>, 'before' | 'thresholds'>,
): boolean {
  return row['autovacuum'] !== true || secondsAbove(row, before) >= thresholds.naps * numberIn(row, 'nap');
}

/** What the next run must know of the tables above autovacuum's trigger. */
export function keepTimes(rows: Row[], before?: ServerFacts['before']): Row[] {
  return rows
    .filter(({ found }) => found === true)
    .map((row) => ({
      table_name: row['table_name'],
      seconds_above: row['autovacuum'] === true ? Math.min(secondsAbove(row, before), LONG_AGO) : 0,
    }));
}
