import type pg from 'pg';
import { cellOfTransaction, controlOf } from '../cells/control-store.ts';
import { addAccountPlace, addKeyPlace } from './directory.ts';

/**
 * Adds the account that a cell's transaction adds to the directory, if there is one. The directory's row commits first. Throws a
 * sentence if the cell was restored from a backup, and issues an id a second time.
 */
export async function registerAccount(client: pg.ClientBase, accountId: number): Promise<void> {
  const cellId = cellOfTransaction(client);
  if (cellId === null || (await addAccountPlace(await controlOf(client), accountId, cellId))) return;
  throw new Error(
    `Cell ${cellId} was restored from a backup that is older than account ${accountId}, and nothing was changed: run "dbvitals migrate", then try again.`,
  );
}

/** Adds the key that a cell's transaction adds to the directory, if there is one. The directory's row commits first. */
export async function registerKey(client: pg.ClientBase, hash: Buffer, accountId: number): Promise<void> {
  if (cellOfTransaction(client) !== null) await addKeyPlace(await controlOf(client), hash, accountId);
}
