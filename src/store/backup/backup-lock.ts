import { createHash } from 'node:crypto';
import pg from 'pg';
import type { StoreAddress } from '../../config/store-url.ts';
import { readSchema } from '../migrate.ts';
import { findCellOf } from '../open.ts';
import { NothingToBackUp } from './backup.ts';
import { withOwnerSession } from './owner-session.ts';

// An arbitrary number. A process holds this lock while it writes a backup of this store into a folder, or removes one there.
const BACKUP_LOCK = 7_241_865_325_823_965n;

const selectBirth = 'select min(run_on)::text as birth from migration';

/** The store that a backup in a folder is of. */
export interface BackedUpStore {
  /**
   * Sixteen hexadecimal digits, of the place of the store and the time when it was created. So neither another store, nor a
   * copy, nor what is restored later to the same place counts as this one.
   */
  id: string;
  /** Which of several cells it is, 0 = only their control store; null = the only store. */
  cell: number | null;
}

/** How long a backup waits for another one of its store: one that hangs must not make each night's job hang. */
const WAIT_SECONDS = 3_600;

/** Runs `work` while no other process backs up this store into a folder. Waits for one that does, at most `waitSeconds`. */
export async function withBackupLock<T>(
  address: StoreAddress,
  signal: AbortSignal | undefined,
  work: (store: BackedUpStore) => Promise<T>,
  waitSeconds = WAIT_SECONDS,
): Promise<T> {
  return withOwnerSession(address, signal, async (client) => {
    await client.query(
      `select set_config('statement_timeout', '0', false), set_config('lock_timeout', $1, false)`,
      [`${1_000 * waitSeconds}ms`],
    );
    await client.query(`select pg_advisory_lock(${BACKUP_LOCK})`).catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError && error.code === '55P03')) throw error;
      throw new Error(
        `Another backup of this store has been under way for ${waitSeconds / 60} minutes, so this one was not made: end that process if it hangs.`,
        { cause: error },
      );
    });
    return work(await identify(client, address));
  });
}

async function identify(client: pg.ClientBase, address: StoreAddress): Promise<BackedUpStore> {
  const { applied } = await readSchema(client);
  if (applied.length === 0) throw new NothingToBackUp();
  const { rows } = await client.query<{ birth: string }>(selectBirth);
  const text = JSON.stringify([rows[0]?.birth, address.map(nameHost).toSorted()]);
  const id = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { id, cell: await findCellOf(client) };
}

function nameHost(config: pg.ClientConfig): string {
  const { host, port, database } = new pg.Client(config);
  return `${host}:${port}/${database}`;
}
