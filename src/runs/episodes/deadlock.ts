import type pg from 'pg';
import type { Read } from '../../store/read.ts';

/** A transaction of a deadlock. */
interface DeadlockedTransaction {
  /** Of its statement: that of MySQL, or of dbvitals where the server has none. */
  digest: string;
  /** The first word of its statement, such as `UPDATE`; '' = none that is known. */
  command: string;
  /** What it held or waited for a lock in, such as `shop.orders`. */
  tables: string[];
  /** InnoDB rolled it back. */
  is_victim: boolean;
}

/** A deadlock that InnoDB ended. */
export interface Deadlock {
  at: Date;
  transactions: DeadlockedTransaction[];
}

/** The most deadlocks of a connection. */
const MOST = 1_000;

// The deletion does not see what the same statement inserts, so it leaves room for it.
const store = `
  with stored as (
    insert into deadlock (account_id, connection_id, at, transactions)
    select $1, $2, $3, $4
     where exists (select from connection where account_id = $1 and connection_id = $2 and removed_at is null)
    on conflict (account_id, connection_id, at) do nothing
  )
  delete from deadlock
   where account_id = $1 and connection_id = $2
     and at < (select at from deadlock
                where account_id = $1 and connection_id = $2
                order by at desc
               offset ${MOST - 2} limit 1)`;

/** Stores a deadlock of a connection, unless it is known, and forgets the oldest beyond 1,000. */
export async function storeDeadlock(
  writer: pg.Pool,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  { at, transactions }: Deadlock,
): Promise<void> {
  await writer.query(store, [accountId, connectionId, at, JSON.stringify(transactions)]);
}

const deadlocks = `
  select at, transactions
    from deadlock
   where account_id = $1 and connection_id = $2 and at >= $3 and at < $4
   order by at desc
   limit $5`;

/** The deadlocks of a connection in a range, newest first. */
export function listDeadlocks(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<Deadlock[]> {
  return read(deadlocks, [accountId, connectionId, from, to, limit]);
}
