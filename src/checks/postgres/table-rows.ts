import type { Row } from '../check.ts';
import { numberIn } from '../columns.ts';

/**
 * Expression: about how many rows a table (`alias`, a row of pg_class) has. Null of a partitioned one: its partitions are
 * analyzed by themselves, so the server has no number for the whole.
 */
export function tableRows(alias: string): string {
  return `case when ${alias}.relkind <> 'p'
                  then greatest(${alias}.reltuples, pg_stat_get_live_tuples(${alias}.oid), 0)::float8 end`;
}

/** Whether a row's `rows`, by {@link tableRows}, are too few for a fault to matter. Unknown ones are not. */
export function isTiny(row: Row, { minimum_rows }: { minimum_rows: number }): boolean {
  return row['rows'] !== null && numberIn(row, 'rows') < minimum_rows;
}
