import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { one } from '../../one.ts';
import { type AccountMove, moveEnded } from './account-move.ts';

const POLL_MS = 100;

/** How long a claim of the monitor lasts at most, and a little more. */
const PATIENCE_MS = 160_000;

const startDraining = `
  update account_move
     set state = 'draining'
   where account_id = $1 and move_id = $2 and state in ('copying', 'draining')
  returning pg_current_xact_id()::text as transaction, now()::text as at`;

// A statement that began before the account drained may still claim or lease; after 10 s, what it began fails without harm. A lease
// ends 30 s after it was taken.
const isDrained = `
  select (pg_snapshot_xmin(pg_current_snapshot()) > $2::xid8 or now() > $3::timestamptz + interval '10 s')
         and not exists (select from connection_schedule where account_id = $1 and claimed_until > now())
         and not exists (select from delivery
                          where account_id = $1 and state = 'queued'
                            and due_at > now() and due_at <= $3::timestamptz + interval '30 s') as drained`;

/** Starts no more background work for the account in the cell that it leaves, and waits for what is under way. */
export async function drain(from: pg.ClientBase, accountId: number, { moveId }: AccountMove): Promise<void> {
  const { rows } = await from.query<{ transaction: string; at: string }>(startDraining, [accountId, moveId]);
  const [started] = rows;
  if (!started) throw moveEnded(accountId);
  const values = [accountId, started.transaction, started.at];
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until; await wait(POLL_MS)) {
    const { drained } = one(
      (await from.query<{ drained: boolean }>(isDrained, values)).rows,
      'drain an account',
    );
    if (drained) return;
  }
}
