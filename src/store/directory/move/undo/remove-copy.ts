import type pg from 'pg';
import { lockSealing } from '../../../log/sealing-lock.sql.ts';
import { type AccountMove, readMove, setMoveState } from '../account-move.ts';
import type { Step } from '../copy-in-use.ts';
import type { MovedTable } from '../moved-tables.ts';
import { transaction } from '../transaction.ts';

/** Rows in one transaction. */
const BATCH = 5_000;

// The owner has no privilege to delete these by accident (migrations/0007_seals.sql).
const PROTECTED = ['activity_seal', 'seal_key'];

/** Removes the account's rows from tables, in the reverse of their order, in the caller's transaction. */
export async function removeRows(
  client: pg.ClientBase,
  accountId: number,
  tables: readonly MovedTable[],
): Promise<void> {
  const names = tables.map(({ name }) => name).toReversed();
  const statement = (name: string) => `delete from ${name} where account_id = ${Number(accountId)}`;
  // In one round trip: requests wait.
  await client.query(
    names
      .filter((name) => !PROTECTED.includes(name))
      .map(statement)
      .join('; '),
  );
  for (const name of names.filter((each) => PROTECTED.includes(each))) {
    // An unfinished copy has none.
    const { rowCount } = await client.query(`select from ${name} where account_id = $1 limit 1`, [accountId]);
    if (rowCount !== 0) await withPrivilege(client, `delete on ${name}`, () => client.query(statement(name)));
  }
}

// PostgreSQL refuses to change one table's privileges in two transactions at once.
const takeTurn = `select pg_advisory_xact_lock(hashtextextended('dbvitals privilege', 0))`;

/** Gives the owner a privilege that it lacks for the rest of the transaction, such as `delete on seal_key`. */
async function withPrivilege<T>(
  client: pg.ClientBase,
  privilege: string,
  work: () => Promise<T>,
): Promise<T> {
  await client.query(takeTurn);
  await client.query(`grant ${privilege} to current_user`);
  const result = await work();
  await client.query(`revoke ${privilege} from current_user`);
  return result;
}

const close = `
  with windows as (delete from key_window where account_id = $1)
  delete from activity_head where account_id = $1`;
const leave = 'update account set is_here = false where account_id = $1';

/**
 * Makes a copy that has arrived, but that the directory does not lead to, incomplete again: closes its log, and removes what
 * the last step copies.
 */
export function reopenCopy(
  client: pg.ClientBase,
  accountId: number,
  { moveId }: AccountMove,
  tables: readonly MovedTable[],
): Promise<void> {
  return transaction(client, async () => {
    const move = await readMove(client, accountId, true);
    if (move?.moveId !== moveId || move.state !== 'arrived') return;
    await client.query(close, [accountId]);
    await client.query(leave, [accountId]);
    await removeRows(
      client,
      accountId,
      tables.filter(({ way }) => way === 'rest'),
    );
    await setMoveState(client, accountId, move, 'arriving');
  });
}

const removeLast = `
  with gone as (delete from account_move where account_id = $1)
  delete from account where account_id = $1`;

/**
 * Removes the copy of an account from a cell that the directory does not lead to, in batches. It begins with the log's head,
 * so an interrupted removal leaves a copy that answers nothing. Call it again until it is done.
 */
export async function removeCopy(
  client: pg.ClientBase,
  accountId: number,
  tables: readonly MovedTable[],
  step: Step,
): Promise<void> {
  await transaction(client, async () => {
    await client.query(close, [accountId]);
    await client.query(leave, [accountId]);
  });
  // A sealing that began before would add a key or a seal to what is removed. A later one finds no head.
  await transaction(client, () => client.query(lockSealing, [accountId]));
  for (const { name } of tables.toReversed()) {
    if (name === 'account') continue;
    let removed = 0;
    for (let rows = BATCH; rows === BATCH; ) {
      rows = await removeBatch(client, accountId, name);
      removed += rows;
      if (rows > 0) step(`removed ${removed} rows of ${name}`);
    }
  }
  // PostgreSQL verifies that no seal or leaf refers to the account, by a lock that needs the privilege to update.
  await transaction(client, () =>
    withPrivilege(client, 'update on activity_seal, activity_leaves', () =>
      client.query(removeLast, [accountId]),
    ),
  );
}

async function removeBatch(client: pg.ClientBase, accountId: number, table: string): Promise<number> {
  const statement = `
    delete from ${table}
     where ctid = any(array(select ctid from ${table} where account_id = $1 limit ${BATCH}))`;
  if (!PROTECTED.includes(table)) return (await client.query(statement, [accountId])).rowCount ?? 0;
  return transaction(client, () =>
    withPrivilege(
      client,
      `delete on ${table}`,
      async () => (await client.query(statement, [accountId])).rowCount ?? 0,
    ),
  );
}
