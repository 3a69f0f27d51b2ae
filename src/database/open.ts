import { resolve } from 'node:path';
import { called } from '../config/package-root.ts';
import { openPool, parsePoolerUrl, parseStoreUrl, type StoreAddress, type StoreRole } from './connect.ts';
import { holdsStore } from './data-folder.ts';
import { type EmbeddedStore, joinEmbedded, type Say } from './embedded.ts';
import { isEmpty, migrate } from './migrate.ts';
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
type WhenAbsent = 'make' | 'refuse';

/** Opens the configured store and brings its schema up to date. Reports steps that take long to `say`. */
export async function openStore(place: StorePlace, say: Say, absent: WhenAbsent): Promise<OpenStore> {
  const store = await joinStore(place, say, absent);
  try {
    if (absent === 'refuse' && (await isEmpty(store.address))) throw new NoStore(place);
    return { ...store, applied: await migrate(store.address) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** {@link openStore} without checking the schema. An empty database counts as existing. */
export async function joinStore(place: StorePlace, say: Say, absent: WhenAbsent): Promise<JoinedStore> {
  const { databaseUrl, dataDir } = place;
  if (absent === 'refuse' && databaseUrl === null && !holdsStore(dataDir)) throw new NoStore(place);
  const embedded = databaseUrl === null ? await joinEmbedded(dataDir, say) : null;
  const close = async () => embedded?.leave();
  try {
    const address = embedded?.address ?? parseStoreUrl(databaseUrl ?? '');
    const version = await storeVersion(address);
    const description = embedded
      ? `embedded PostgreSQL ${version} in ${dataDir}`
      : `PostgreSQL ${version} of DATABASE_URL`;
    return { address, description, embedded, close };
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
async function storeVersion(address: StoreAddress): Promise<string> {
  const question = `select current_setting('server_version') as answer`;
  const version = await askEachHost(address, 'owner', question).catch((error: Error) => {
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
export async function requestAddress(store: OpenStore, url: string | null): Promise<StoreAddress> {
  if (url === null) return store.address;
  const address = parsePoolerUrl(url);
  for (const role of ['writer', 'reader'] as const) {
    await askEachHost(address, role, 'select current_user as answer').catch((cause: Error) => {
      throw new Error(`DBVITALS_POOLER_URL can't be used: ${cause.message}`, { cause });
    });
  }
  return address;
}

// How long a host may take to connect and answer.
const START_DEADLINE_MS = 10_000;

/** The answer to `question` from the first host of the address that answers. */
async function askEachHost(address: StoreAddress, role: StoreRole, question: string): Promise<string> {
  const pool = openPool(address, role, { max: 1, statementTimeout: START_DEADLINE_MS });
  try {
    for (let host = 1; ; host += 1) {
      try {
        const { rows } = await pool.query<{ answer: string }>(question);
        return one(rows, 'ask a host of the store').answer;
      } catch (error) {
        if (host >= address.length) throw error;
      }
    }
  } finally {
    await pool.end();
  }
}
