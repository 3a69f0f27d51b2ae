import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import type { StoreAddress } from '../config/store-url.ts';
import { inPackage } from '../platform/package-root.ts';
import { inTransaction, openPool } from './connect.ts';
import { one } from './one.ts';

const FOLDER = fileURLToPath(inPackage('migrations'));

// An arbitrary number: a migration holds this lock exclusively, backups (backup.ts) share it.
const SCHEMA_LOCK = 7_241_865_325_823_964n;
const lockSchema = `select pg_advisory_xact_lock(${SCHEMA_LOCK})`;
const lockShared = `select pg_advisory_lock_shared(${SCHEMA_LOCK})`;

// A session that waits for a table blocks all later ones. So a migration waits far less than a request's two seconds, and
// less than the 1 s after which PostgreSQL looks for deadlocks. Then it lets the others pass and tries again.
const LOCK_TIMEOUT_MS = 200;
const PAUSE_MS = 500;
const MOST_TRIES = 100;

const makeTable = `
  create table if not exists migration (
    id     serial primary key,
    name   varchar(255) not null,
    run_on timestamp not null
  )`;
// Without to_regclass: while a session waits for the lock, it does not repeat a failed lookup.
const isThere = `
  select exists (select from pg_class where relname = 'migration' and pg_table_is_visible(oid)) as there`;
const selectApplied = 'select name from migration order by name collate "C"';
const insertApplied = 'insert into migration (name, run_on) values ($1, now())';

/** One step of the schema: `migrations/NNNN_what.sql`. */
export interface Migration {
  name: string;
  sql: string;
}

/** The state of a store's schema. */
export interface SchemaState {
  /** Names of the applied migrations, in order; none in an empty database. */
  applied: string[];
  /** The missing migrations, in order. */
  pending: Migration[];
}

/** Reads which migrations a store has and lacks. Throws a sentence if its schema is not an earlier one of this program. */
export async function readSchema(client: pg.ClientBase | pg.Pool, folder = FOLDER): Promise<SchemaState> {
  const { rows } = await client.query<{ there: boolean }>(isThere);
  const found = one(rows, 'look for the list of migrations').there
    ? await client.query<{ name: string }>(selectApplied)
    : { rows: [] };
  const applied = found.rows.map(({ name }) => name);
  const known = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted();
  const newer = applied.filter((name) => !known.includes(name));
  if (newer[0] !== undefined) {
    throw new Error(
      `The store's schema is newer than this dbvitals, which does not know ${newer.join(', ')}: start the version that made it, or a later one.`,
    );
  }
  const lacking = known.filter((name) => !applied.includes(name));
  const last = applied.at(-1) ?? '';
  if (lacking[0] !== undefined && lacking[0] < last) {
    throw new Error(
      `The store lacks the migration ${lacking[0]} although it has ${last}: no version of dbvitals creates such a schema.`,
    );
  }
  const pending = lacking.map((name) => ({ name, sql: readFileSync(join(folder, `${name}.sql`), 'utf8') }));
  return { applied, pending };
}

/** Locks the schema exclusively until the transaction ends. Waits for other holders of the lock. */
export async function lockSchemaAlone(client: pg.ClientBase): Promise<void> {
  await client.query(lockSchema);
}

/** Prevents migrations until the connection ends. Call it before the transaction: its snapshot must be newer than any migration. */
export async function keepSchema(client: pg.ClientBase): Promise<void> {
  await client.query(lockShared);
}

/** Applies migrations in the transaction of `client`, which holds the exclusive lock. Throws {@link MigrationError}. */
export async function applyMigrations(
  client: pg.ClientBase,
  migrations: readonly Migration[],
): Promise<void> {
  if (migrations.length > 0) await client.query(makeTable);
  for (const { name, sql } of migrations) {
    try {
      await client.query(sql);
    } catch (cause) {
      throw new MigrationError(name, cause);
    }
    await client.query(insertApplied, [name]);
  }
}

/** A migration failed. Its transaction must be rolled back. */
class MigrationError extends Error {
  constructor(name: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'unknown';
    super(
      `Migration ${name} failed and nothing was changed: the previous version of dbvitals still runs on this store. PostgreSQL says: ${reason.replace(/\.$/, '')}. Fix this, then start this version again.`,
      { cause },
    );
  }
}

/**
 * Applies all missing migrations in one transaction and returns their names. A failure leaves the schema unchanged. Any
 * number of processes may call it at once: they take turns. Throws sentences that say what to do.
 */
export async function migrate(address: StoreAddress, folder = FOLDER): Promise<string[]> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    if ((await readSchema(pool, folder)).pending.length === 0) return [];
    for (let tries = 1; ; tries += 1) {
      try {
        return await inTransaction(pool, (client) => migrateAlone(client, folder));
      } catch (error) {
        if (!isKeptWaiting(error)) throw (await missingRoles(pool, error)) ?? error;
        if (tries === MOST_TRIES) throw keptWaiting(error);
      }
      await wait(PAUSE_MS);
    }
  } finally {
    await pool.end();
  }
}

async function migrateAlone(client: pg.ClientBase, folder: string): Promise<string[]> {
  await lockSchemaAlone(client);
  const { pending } = await readSchema(client, folder);
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await applyMigrations(client, pending);
  return pending.map(({ name }) => name);
}

function codeOf(error: unknown): unknown {
  const cause = error instanceof MigrationError ? error.cause : error;
  return cause instanceof Error && 'code' in cause ? cause.code : null;
}

/** Whether another session held a lock that a migration needs: lock_not_available, or a deadlock. */
function isKeptWaiting(error: unknown): boolean {
  const code = codeOf(error);
  return code === '55P03' || code === '40P01';
}

function keptWaiting(cause: unknown): Error {
  return new Error(
    'The schema could not be brought up to date for a minute and nothing was changed: a long transaction locks a table of the store. Find it in pg_stat_activity, let it end, then try again.',
    { cause },
  );
}

const roles = `
  select format('create role %I nologin;', name) as make, to_regrole(name) is null as absent,
         quote_ident(current_user) as me
    from unnest(array['dbvitals_writer', 'dbvitals_reader', 'dbvitals_console']) as needed (name)
   where case when to_regrole(name) is null then true
              else not pg_has_role(current_user, to_regrole(name), 'member') end`;

/** The statements with which a superuser grants the store's user the roles that it acts as; null = it has them. */
async function grantRoles(pool: pg.Pool): Promise<string | null> {
  const { rows } = await pool.query<{ make: string; absent: boolean; me: string }>(roles);
  const [first] = rows;
  if (!first) return null;
  const make = rows.filter(({ absent }) => absent).map((row) => `${row.make} `);
  return `${make.join('')}grant dbvitals_writer, dbvitals_reader, dbvitals_console to ${first.me};`;
}

/** If a migration failed because of missing roles, an error that says which to create and grant; else null. */
export async function missingRoles(pool: pg.Pool, error: unknown): Promise<Error | null> {
  if (codeOf(error) !== '42501') return null;
  const statements = await grantRoles(pool);
  if (statements === null) return null;
  return new Error(
    `The store's user may not create the roles of dbvitals: run this as a superuser, then try again: ${statements}`,
    { cause: error },
  );
}

const selectRights = `
  select rolsuper or rolcreaterole as makes_roles, quote_ident(rolname) as me,
         has_schema_privilege('public', 'create') as makes_tables
    from pg_roles where rolname = current_user`;

/** Why the store's user can't apply migrations, checked without trying one; null = it can. */
export async function whyNoMigration(pool: pg.Pool): Promise<{ message: string; remedy: string } | null> {
  const { rows } = await pool.query<{ makes_roles: boolean; makes_tables: boolean; me: string }>(
    selectRights,
  );
  const [rights] = rows;
  if (!rights) return null;
  const statements = rights.makes_roles ? null : await grantRoles(pool);
  if (statements !== null) {
    return {
      message: "The store's user may not create the roles of dbvitals, so migrations fail.",
      remedy: `Run this as a superuser: ${statements}`,
    };
  }
  if (rights.makes_tables) return null;
  return {
    message: "The store's user may not create tables in the schema public, so migrations fail.",
    remedy: `Run this as the database's owner: grant create on schema public to ${rights.me};`,
  };
}
