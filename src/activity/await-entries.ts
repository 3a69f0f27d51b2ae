import type pg from 'pg';

// What happens gets its instant under this row's lock and is committed a moment later, 2 s at most: whoever gets the
// lock after the instant finds all that lies before it committed.
const awaitCommitted = `
  select from activity_head
   where account_id = $1
     and $2::timestamptz > clock_timestamp() - interval '5 s'
     for key share`;

/**
 * Waits until all that happened in the account before the instant (as PostgreSQL writes it) can be read, so that
 * a range of time that ends just now misses nothing. What lies longer ago costs no lock. `writer` is a pool of its role.
 */
export async function awaitEntries(writer: pg.Pool, accountId: number, before: string): Promise<void> {
  await writer.query(awaitCommitted, [accountId, before]);
}
