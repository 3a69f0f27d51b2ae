import { resolve } from 'node:path';
import type pg from 'pg';
import { called } from '../config/package-root.ts';
import { openPool, parsePoolerUrl, parseStoreUrl, type StoreAddress } from './connect.ts';
import { holdsStore } from './data-folder.ts';
import { type EmbeddedStore, joinEmbedded, type Say } from './embedded.ts';
import { migrate, readSchema } from './migrate.ts';
import { one } from './one.ts';

/** An existing store, whatever its schema. */
export interface JoinedStore {
  address: StoreAddress;
  /** A description such as "embedded PostgreSQL 18.4 in .dbvitals". */
  description: string;
  /** Null = the store is the operator's own PostgreSQL. */
  embedded: EmbeddedStore | null;
  /** Call it after all pools on the store have ended. The embedded server stops with the last process that uses it. */
  close(): Promise<void>;
}

/** A store whose schema is up to date. */
export interface OpenStore extends JoinedStore {
  /** Names of the migrations that were applied on opening. */
  applied: string[];
  /** Which of several cells the store is, 0 = only their control store; null = it is the only store. */
  cellId: number | null;
}

/** The settings of the store: its URL, or the folder of the embedded one. */
interface StorePlace {
  databaseUrl: string | null;
  dataDir: string;
}

/**
 * What to do if the store does not exist. A command in the wrong folder must not create one, so only some commands create
 * it, and the others fail with a sentence.
 */
export type WhenAbsent = 'make' | 'refuse';

/** Opens the configured store and brings its schema up to date. Reports steps that take long to `say`. */
export async function openStore(place: StorePlace, say: Say, absent: WhenAbsent): Promise<OpenStore> {
  return join(place, say, absent, async (store, owner) => {
    const { applied, pending } = await readSchema(owner);
    if (absent === 'refuse' && applied.length === 0) throw new NoStore(place);
    const added = pending.length === 0 ? [] : await migrate(store.address);
    return { ...store, applied: added, cellId: await cellOf(owner) };
  });
}

const selectCell = 'select cell_id from cell';

/** Which of several cells a store is, 0 = only their control store; null = it is the only store. */
export async function cellOf(client: pg.ClientBase | pg.Pool): Promise<number | null> {
  const { rows } = await client.query<{ cell_id: number }>(selectCell);
  return rows[0]?.cell_id ?? null;
}

/** {@link openStore} without checking the schema. An empty database counts as existing. */
export function joinStore(place: StorePlace, say: Say, absent: WhenAbsent): Promise<JoinedStore> {
  return join(place, say, absent, async (store) => store);
}

/** Joins the store, and gives what `open` makes of it with its owner's pool. A failure leaves the store. */
async function join<Store extends JoinedStore>(
  { databaseUrl, dataDir }: StorePlace,
  say: Say,
  absent: WhenAbsent,
  open: (store: JoinedStore, owner: pg.Pool) => Promise<Store>,
): Promise<Store> {
  if (absent === 'refuse' && databaseUrl === null && !holdsStore(dataDir))
    throw new NoStore({ databaseUrl, dataDir });
  const embedded = databaseUrl === null ? await joinEmbedded(dataDir, say) : null;
  const close = async () => embedded?.leave();
  try {
    const address = embedded?.address ?? parseStoreUrl(databaseUrl ?? '');
    const owner = openPool(address, 'owner', { max: 1, statementTimeout: START_DEADLINE_MS });
    try {
      const version = await storeVersion(owner, address);
      const description = embedded
        ? `embedded PostgreSQL ${version} in ${dataDir}`
        : `PostgreSQL ${version} of DATABASE_URL`;
      return await open({ address, description, embedded, close }, owner);
    } finally {
      await owner.end();
    }
  } catch (error) {
    await close();
    throw error;
  }
}

class NoStore extends Error {
  constructor({ databaseUrl, dataDir }: StorePlace) {
    const message =
      databaseUrl === null
        ? `There is no store in ${resolve(dataDir)}: set DBVITALS_DATA_DIR or DATABASE_URL to your store`
        : 'There is no store in the database of DATABASE_URL: set it to the database of your store';
    super(`${message}, or run "${called} migrate" to create one there.`);
  }
}

/** The store's version, such as "18.4". Throws a sentence if the store does not answer or is too old. */
async function storeVersion(owner: pg.Pool, address: StoreAddress): Promise<string> {
  const question = `select current_setting('server_version') as answer`;
  const version = await askEachHost(owner, address, question).catch((error: Error) => {
    if (!error.message.startsWith('unsupported startup parameter')) throw error;
    throw new Error(
      'DATABASE_URL names a pooler: set it to the server itself, and set DBVITALS_POOLER_URL to the pooler.',
      { cause: error },
    );
  });
  const [number = ''] = version.split(' ');
  if (Number.parseInt(number, 10) < 15) {
    throw new Error(`The store is PostgreSQL ${number}: DATABASE_URL must name PostgreSQL 15 or later.`);
  }
  return number;
}

/**
 * The address for statements of requests: the pooler in transaction mode at `url`, or the store itself. Throws a sentence if
 * the pooler does not answer or gives other roles.
 */
export async function requestAddress(store: JoinedStore, url: string | null): Promise<StoreAddress> {
  if (url === null) return store.address;
  const address = parsePoolerUrl(url);
  for (const role of ['writer', 'reader'] as const) {
    const pool = openPool(address, role, { max: 1, statementTimeout: START_DEADLINE_MS });
    await askEachHost(pool, address, 'select current_user as answer')
      .catch((cause: Error) => {
        throw new Error(`DBVITALS_POOLER_URL can't be used: ${cause.message}`, { cause });
      })
      .finally(() => pool.end());
  }
  return address;
}

// How long a host may take to connect and answer.
const START_DEADLINE_MS = 10_000;

/** The answer to `question` from the first host of the pool's address that answers. */
async function askEachHost(pool: pg.Pool, address: StoreAddress, question: string): Promise<string> {
  for (let host = 1; ; host += 1) {
    try {
      const { rows } = await pool.query<{ answer: string }>(question);
      return one(rows, 'ask a host of the store').answer;
    } catch (error) {
      if (host >= address.length) throw error;
    }
  }
}
