import { resolve } from 'node:path';
import type pg from 'pg';
import { parsePoolerUrl, parseStoreUrl, type StoreAddress } from '../config/store-url.ts';
import { called } from '../platform/package-root.ts';
import { openPool } from './connect.ts';
import { holdsStore } from './data-folder.ts';
import { type EmbeddedStore, joinEmbedded, type Say } from './embedded.ts';
import { ONLY_STORE, type StoreWords } from './link/store-connect-failure.ts';
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
  /** What messages call it, and the setting that has its URL; default: as of the only store. */
  words?: StoreWords;
}

/**
 * What to do if the store does not exist. A command in the wrong folder must not create one, so only some commands create
 * it, and the others fail with a sentence.
 */
export type WhenAbsent = 'make' | 'refuse';

/**
 * What opening a store may change. `migrate` creates the store and brings its schema up to date, after which older versions
 * can't start on it. `use` changes nothing, and fails with a sentence if something would have to be changed.
 */
export type Opening = 'migrate' | 'use';

/**
 * Opens the configured store. Reports steps that take long, and each migration of an existing store, to `say`. `judge` may
 * refuse the store, before anything in it is changed.
 */
export async function openStore(
  place: StorePlace,
  say: Say,
  opening: Opening,
  judge?: (owner: pg.Pool) => Promise<void>,
): Promise<OpenStore> {
  const absent = opening === 'migrate' ? 'make' : 'refuse';
  return join(place, say, absent, async (store, owner) => {
    await judge?.(owner);
    const { applied, pending } = await readSchema(owner);
    if (opening === 'use') {
      if (applied.length === 0) throw noStore(place);
      if (pending.length > 0) throw olderSchema(pending.length);
    }
    const added = pending.length === 0 ? [] : await migrate(store.address);
    if (applied.length > 0) for (const name of added) say(`Applied migration ${name}.`);
    return { ...store, applied: added, cellId: await cellOf(owner) };
  });
}

const selectCell = 'select cell_id from cell';

const isCellThere = `select from pg_class where relname = 'cell' and pg_table_is_visible(oid)`;

/** {@link cellOf} of a store whose schema may be older than cells, or which may be empty. */
export async function findCellOf(client: pg.ClientBase | pg.Pool): Promise<number | null> {
  return (await client.query(isCellThere)).rowCount === 0 ? null : cellOf(client);
}

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
  place: StorePlace,
  say: Say,
  absent: WhenAbsent,
  open: (store: JoinedStore, owner: pg.Pool) => Promise<Store>,
): Promise<Store> {
  const { databaseUrl, dataDir, words = ONLY_STORE } = place;
  if (absent === 'refuse' && databaseUrl === null && !holdsStore(dataDir)) throw noStore(place);
  const embedded = databaseUrl === null ? await joinEmbedded(dataDir, say) : null;
  const close = async () => embedded?.leave();
  try {
    const address = embedded?.address ?? parseStoreUrl(databaseUrl ?? '');
    const owner = openPool(address, 'owner', { max: 1, statementTimeout: START_DEADLINE_MS });
    try {
      const version = await storeVersion(owner, address, words);
      const description = embedded
        ? `embedded PostgreSQL ${version} in ${dataDir}`
        : `PostgreSQL ${version} of ${words === ONLY_STORE ? words.setting : words.store}`;
      return await open({ address, description, embedded, close }, owner);
    } finally {
      await owner.end();
    }
  } catch (error) {
    await close();
    throw error;
  }
}

function noStore({ databaseUrl, dataDir, words: { store, setting } = ONLY_STORE }: StorePlace): Error {
  const message =
    databaseUrl === null
      ? `There is no store in ${resolve(dataDir)}: set DBVITALS_DATA_DIR or DATABASE_URL to your store`
      : setting === ONLY_STORE.setting
        ? `There is no store in the database of ${setting}: set it to the database of your store`
        : `There is no store in the database of ${store}: correct its URL in ${setting}`;
  return new Error(`${message}, or run "${called} migrate" to create one there.`);
}

function olderSchema(pending: number): Error {
  const what = pending === 1 ? 'a migration' : `${pending} migrations`;
  return new Error(
    `The store lacks ${what} of this version of dbvitals, and nothing was changed: run "${called} backup FILE", then "${called} migrate" ("migrate --plan" lists the migrations; an older version can't start on the store afterwards).`,
  );
}

/** The store's version, such as "18.4". Throws a sentence if the store does not answer or is too old. */
async function storeVersion(
  owner: pg.Pool,
  address: StoreAddress,
  { store, setting }: StoreWords,
): Promise<string> {
  const question = `select current_setting('server_version') as answer`;
  const version = await askEachHost(owner, address, question).catch((error: Error) => {
    if (!error.message.startsWith('unsupported startup parameter')) throw error;
    throw new Error(
      setting === ONLY_STORE.setting
        ? `${setting} names a pooler: set it to the server itself, and set DBVITALS_POOLER_URL to the pooler.`
        : `${setting} names a pooler for ${store}: set its URL to the server itself, and its pooler_url to the pooler.`,
      { cause: error },
    );
  });
  const [number = ''] = version.split(' ');
  if (Number.parseInt(number, 10) < 15) {
    throw new Error(
      `${store.replace(/^./, (first) => first.toUpperCase())} is PostgreSQL ${number}: ${setting} must name PostgreSQL 15 or later.`,
    );
  }
  return number;
}

/**
 * The address for statements of requests: the place's pooler in transaction mode, or the store itself. Throws a sentence if the
 * pooler does not answer or gives other roles.
 */
export async function requestAddress(
  store: JoinedStore,
  { poolerUrl, words }: { poolerUrl: string | null; words: StoreWords },
): Promise<StoreAddress> {
  if (poolerUrl === null) return store.address;
  const setting =
    words === ONLY_STORE ? 'DBVITALS_POOLER_URL' : `The pooler_url of ${words.store} in ${words.setting}`;
  const address = parsePoolerUrl(poolerUrl, setting);
  for (const role of ['writer', 'reader'] as const) {
    const pool = openPool(address, role, { max: 1, statementTimeout: START_DEADLINE_MS });
    await askEachHost(pool, address, 'select current_user as answer')
      .catch((cause: Error) => {
        throw new Error(`${setting} can't be used: ${cause.message}`, { cause });
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
