import { one } from '../../../one.ts';
import type { Side } from '../open-sides.ts';

// While a log is closed for a move, its head is in the row of the move.
const selectEnd = `
  select coalesce(h.last_id, (m.head ->> 'last_id')::bigint, 0) as "lastId", coalesce(a.generation, 0) as generation,
         h.account_id is not null as "isOpen", m.state is not distinct from 'arrived' as "hasArrived"
    from (select $1::bigint as account_id) of
    left join account a using (account_id)
    left join activity_head h using (account_id)
    left join account_move m using (account_id)`;

interface LogEnd {
  lastId: number;
  generation: number;
  isOpen: boolean;
  hasArrived: boolean;
}

async function readEnd({ client }: Side, accountId: number): Promise<LogEnd> {
  return one((await client.query<LogEnd>(selectEnd, [accountId])).rows, 'read the end of a log');
}

/**
 * Throws a sentence unless the rows of an account in `other` are a copy, which can be removed. After a restore the directory,
 * and so `home`, may be older than a move: then the account lives in `other`.
 */
export async function requireCopy(home: Side, other: Side, accountId: number): Promise<void> {
  const [own, its] = await Promise.all([readEnd(home, accountId), readEnd(other, accountId)]);
  if (!its.isOpen) return;
  // Arriving raises the generation, so that of the account's own rows is higher, unless no request was ever led to the copy.
  const isOlder =
    its.lastId < own.lastId ||
    (its.lastId === own.lastId && (its.hasArrived || its.generation < own.generation));
  if (isOlder) return;
  throw new Error(
    `Cell ${other.cellId} has rows of account ${accountId} that may be newer than those of cell ${home.cellId}, and nothing was removed: the log ends at entry ${its.lastId} there, and at ${own.lastId} in cell ${home.cellId}. Run "dbvitals doctor", and see "Restores" in docs/operate/move-account.md.`,
  );
}
