import type pg from 'pg';
import { openPool } from '../../connect.ts';
import { keepSchema } from '../../migrate.ts';
import { one } from '../../one.ts';
import type { MoveParts } from './places.ts';

/** A connection to a cell as its owner. */
export interface Side {
  readonly cellId: number;
  readonly client: pg.Client;
  close(): Promise<void>;
}

/**
 * Connects to a cell, and keeps its schema as it is. `statementTimeout` limits each statement, in milliseconds; the default is
 * no limit. Throws a sentence that names the cell.
 */
export async function openSide(
  { cellIds, addressOf }: MoveParts,
  cellId: number,
  statementTimeout?: number,
): Promise<Side> {
  if (!cellIds.includes(cellId))
    throw new Error(`There is no cell ${cellId}: DBVITALS_CELLS_FILE names ${cellIds.join(', ')}.`);
  const pool = openPool(await addressOf(cellId), 'owner', { max: 1, statementTimeout, name: 'account move' });
  let client: pg.PoolClient | null = null;
  const close = async () => {
    client?.release(true);
    await pool.end();
  };
  try {
    client = await pool.connect();
    client.on('error', () => {}); // the next statement reports it
    await keepSchema(client);
    return { cellId, client, close };
  } catch (cause) {
    await close();
    const reason = cause instanceof Error ? cause.message : 'unknown error';
    throw new Error(`Cell ${cellId} can't be reached, and nothing was changed: ${reason}`, { cause });
  }
}

const number = `hashtextextended('dbvitals account move', $1)`;
const lock = `select pg_try_advisory_lock(${number}) as locked`;
const waitForLock = `select pg_advisory_lock(${number})`;

/** Lets one command at a time move the account, until the connection to the cell that it leaves ends. */
export async function lockMove({ client }: Side, accountId: number): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>(lock, [accountId]);
  if (!one(rows, 'lock the move of an account').locked) {
    throw new Error(`Another command is moving account ${accountId}: wait until it ends.`);
  }
}

/** {@link lockMove} on a new connection of a command whose earlier one may not have ended yet in PostgreSQL. */
export async function lockMoveAgain({ client }: Side, accountId: number): Promise<void> {
  await client.query(waitForLock, [accountId]);
}

const selectMigrations = `select string_agg(name, ' ' order by name) as migrations from migration`;

/** Throws unless both cells have the same schema. */
export async function requireSameSchema(from: Side, to: Side): Promise<void> {
  const [leaving, arriving] = await Promise.all(
    [from, to].map(async ({ client }) =>
      one((await client.query<{ migrations: string }>(selectMigrations)).rows, 'read the migrations'),
    ),
  );
  if (leaving?.migrations === arriving?.migrations) return;
  throw new Error(
    `Cells ${from.cellId} and ${to.cellId} have different schemas, and nothing was changed: run "dbvitals migrate" with one version of dbvitals for all cells.`,
  );
}
