import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { openPool, type StoreAddress } from './connect.ts';

const folder = fileURLToPath(new URL('../../migrations', import.meta.url));

const roles = `
  select format('create role %I nologin;', name) as make, to_regrole(name) is null as absent,
         quote_ident(current_user) as me
    from unnest(array['dbvitals_writer', 'dbvitals_reader']) as needed (name)
   where case when to_regrole(name) is null then true
              else not pg_has_role(current_user, to_regrole(name), 'member') end`;

/** A sentence that says which roles to make and grant where that is what a migration was refused for; else null. */
async function missingRoles(client: pg.ClientBase, error: unknown): Promise<Error | null> {
  if (!(error instanceof Error && 'code' in error && error.code === '42501')) return null;
  await client.query('rollback').catch(() => {});
  const { rows } = await client.query<{ make: string; absent: boolean; me: string }>(roles);
  const [first] = rows;
  if (!first) return null;
  const make = rows.filter(({ absent }) => absent).map((row) => `${row.make} `);
  const grant = `grant dbvitals_writer, dbvitals_reader to ${first.me};`;
  return new Error(
    `The store's user may not make the roles that dbvitals acts as: run this as a superuser, then try again: ${make.join('')}${grant}`,
    { cause: error },
  );
}

/**
 * Brings the store's schema up to date and returns the names of the migrations that it applied. Any number of
 * processes may call it at once: they take turns under an advisory lock. Throws a sentence where roles are missing.
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
  } catch (error) {
    throw (await missingRoles(client, error)) ?? error;
  } finally {
    client.release();
    await pool.end();
  }
}
