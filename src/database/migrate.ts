import { fileURLToPath } from 'node:url';
import { openPool, type StoreAddress } from './connect.ts';

const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

/**
 * Brings the store's schema up to date and returns the names of the migrations that it applied. Any number of
 * processes may call it at once: they take turns under an advisory lock.
 */
export async function migrate(address: StoreAddress): Promise<string[]> {
  const { runner } = await import('node-pg-migrate');
  const pool = openPool(address, 'owner', { max: 1 });
  const client = await pool.connect();
  try {
    const applied = await runner({
      dbClient: client,
      dir: folder,
      direction: 'up',
      migrationsTable: 'migration',
      advisoryLockMode: 'wait',
      log: () => {},
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    return applied.map(({ name }) => name);
  } finally {
    client.release();
    await pool.end();
  }
}
