import { numberIn } from '../columns.ts';
import type { Row } from '../fault.ts';

/**
 * Expression: about how many rows a table (`alias`, a row of pg_class) has; a partitioned one has those of its partitions.
 * pg_partition_tree would wait for their locks.
 */
export function tableRows(alias: string): string {
  const rows = (of: string) => `greatest(${of}.reltuples, pg_stat_get_live_tuples(${of}.oid), 0)::float8`;
  return `case when ${alias}.relkind <> 'p' then ${rows(alias)} else (
               with recursive part (oid) as (
                 select ${alias}.oid
                  union
                 select h.inhrelid from part join pg_inherits h on h.inhparent = part.oid)
               select coalesce(sum(${rows('leaf')}), 0)
                 from part join pg_class leaf on leaf.oid = part.oid and leaf.relkind <> 'p') end`;
}

/**
 * Condition: the table `alias`, a row of pg_class, may have `minimum` rows by {@link tableRows}. It costs less than most others, so that a
 * check that ignores small tables looks no further at them. Of an index or a TOAST table nothing is asked: PostgreSQL may
 * put this to every relation.
 */
export function mayHaveRows(alias: string, minimum: number): string {
  const large = `greatest(${alias}.reltuples, pg_stat_get_live_tuples(${alias}.oid)) >= ${Number(minimum)}`;
  return `(${alias}.relkind = 'p' or ${alias}.relkind = 'r' and ${large})`;
}

/** Whether a row's `rows`, by {@link tableRows}, are too few for a fault to matter. Unknown ones are not. */
export function isTiny(row: Row, { minimum_rows }: { minimum_rows: number }): boolean {
  return row['rows'] !== null && numberIn(row, 'rows') < minimum_rows;
}
