import type pg from 'pg';
import { one } from '../database/one.ts';

const pruneOldest = (table: string, age: string) => `
  with gone as (
    delete from ${table}
     where ctid = any (array(select ctid from ${table}
                              where ${age} < now() - interval '14 days'
                              order by ${age}
                              limit 1000
                                for update skip locked))
    returning 1
  )
  select count(*) as queries from gone`;

// A text that is still needed is read again.
const STATEMENTS = [pruneOldest('query_hour', 'hour'), pruneOldest('query_text', 'read_at')];

/**
 * Deletes the hours of queries and the texts that are older than 14 days. Works in transactions of at most 1,000 rows, and
 * yields the number of each.
 */
export async function* pruneQueries(owner: pg.Pool): AsyncGenerator<number> {
  for (const statement of STATEMENTS) {
    for (;;) {
      const { rows } = await owner.query<{ queries: number }>(statement);
      const { queries } = one(rows, 'prune queries');
      if (queries === 0) break;
      yield queries;
    }
  }
}
