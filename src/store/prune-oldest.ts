import type pg from 'pg';
import { doesNotMove } from './cells/moving.sql.ts';
import { one } from './one.ts';

/** What {@link pruneOldest} deletes. All are SQL. */
interface Old {
  readonly table: string;
  /** The column with the row's time, which leads an index. */
  readonly at: string;
  /** How old a row gets, as an interval. */
  readonly age: string;
  /** What else a row `x` must meet. */
  readonly condition?: string;
  /** What to do about rows that another transaction has locked. */
  readonly lock?: 'for update skip locked';
}

/** Rows of one step. */
const STEP = 1_000;

// From the last step's time on, so that rows that stay are read once a round.
const prune = ({ table, at, age, condition = 'true', lock }: Old) => `
  with gone as (
    delete from ${table}
     where ctid = any (array(select ctid from ${table} x
                              where ${at} >= $1::timestamptz and ${at} < now() - interval '${age}'
                                and ${doesNotMove('x.account_id')} and ${condition}
                              order by ${at}
                              limit ${STEP} ${lock ?? ''}))
    returning ${at} as at
  )
  select count(*)::int as rows, max(at)::text as last from gone`;

interface Pruned {
  rows: number;
  last: string | null;
}

/**
 * Deletes the rows of accounts that are older than an age, the oldest first. Works in transactions of at most {@link STEP} rows,
 * and yields the number of each.
 */
export async function* pruneOldest(owner: pg.Pool, old: Old): AsyncGenerator<number> {
  let from: string | null = '-infinity';
  while (from !== null) {
    const found: pg.QueryResult<Pruned> = await owner.query<Pruned>(prune(old), [from]);
    const { rows, last } = one(found.rows, `prune ${old.table}`);
    if (rows > 0) yield rows;
    from = last;
  }
}
