import type pg from 'pg';

// Entries get their instant under this row's lock and are committed within 2 s. So after taking the lock later than
// an instant, all entries before that instant are committed.
const awaitCommitted = `
  select from activity_head
   where account_id = $1
     and $2::timestamptz > clock_timestamp() - interval '5 s'
     for key share`;

/**
 * Waits until all entries of the account before the instant (in PostgreSQL's format) can be read, so that a time
 * range that ends now misses nothing. An instant more than 5 s ago needs no lock. `writer` is a pool of the writer's
 * role.
 */
export async function awaitEntries(writer: pg.Pool, accountId: number, before: string): Promise<void> {
  await writer.query(awaitCommitted, [accountId, before]);
}
