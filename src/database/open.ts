import { openPool, parseStoreUrl, type StoreAddress } from './connect.ts';
import { type EmbeddedStore, joinEmbedded } from './embedded.ts';
import { migrate } from './migrate.ts';

/** A store that is up to date and ready. */
export interface OpenStore {
  address: StoreAddress;
  /** What it is, for a person: "embedded PostgreSQL 18.4 in .dbvitals". */
  description: string;
  /** Null when the store is a PostgreSQL of the operator's own. */
  embedded: EmbeddedStore | null;
  /** Names of the migrations that opening it applied. */
  applied: string[];
  /** Call it after every pool on the store has ended; the embedded server stops with the last process that uses it. */
  close(): Promise<void>;
}

/** Opens the store that the configuration names and brings its schema up to date; `say` hears of what takes long. */
export async function openStore(
  config: { databaseUrl: string | null; dataDir: string },
  say: (step: string) => void,
): Promise<OpenStore> {
  const embedded = config.databaseUrl === null ? await joinEmbedded(config.dataDir, say) : null;
  const close = async () => embedded?.leave();
  try {
    const address = embedded?.address ?? parseStoreUrl(config.databaseUrl ?? '');
    const version = await storeVersion(address);
    const applied = await migrate(address);
    const description = embedded
      ? `embedded PostgreSQL ${version} in ${config.dataDir}`
      : `PostgreSQL ${version} of DATABASE_URL`;
    return { address, description, embedded, applied, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The store's version, such as "18.4". Throws a sentence when it is not there or too old. */
async function storeVersion(address: StoreAddress): Promise<string> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    const { rows } = await pool.query<{ version: string }>(
      `select current_setting('server_version') as version`,
    );
    const version = rows[0]?.version.split(' ')[0] ?? '';
    if (Number.parseInt(version, 10) < 15) {
      throw new Error(`The store is PostgreSQL ${version}: DATABASE_URL must name PostgreSQL 15 or later.`);
    }
    return version;
  } finally {
    await pool.end();
  }
}
