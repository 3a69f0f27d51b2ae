import type pg from 'pg';
import { one } from './one.ts';

/** The size of the store's database in bytes. PostgreSQL checks each of its files: 3 ms for 1,500 files. */
export async function storeSize(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: number }>(
    'select pg_database_size(current_database()) as bytes',
  );
  return one(rows, 'measure the store').bytes;
}
