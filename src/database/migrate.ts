import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { inPackage } from '../config/package-root.ts';
import { inTransaction, openPool, type StoreAddress } from './connect.ts';
import { one } from './one.ts';

const FOLDER = fileURLToPath(inPackage('migrations'));

// Any number: who changes the schema has it alone, who copies the store (backup.ts) shares it with others.
const SCHEMA_LOCK = 7_241_865_325_823_964n;
const lockSchema = `select pg_advisory_xact_lock(${SCHEMA_LOCK})`;
const lockShared = `select pg_advisory_lock_shared(${SCHEMA_LOCK})`;

// Whoever waits for a table makes all wait that come after it. So a migration waits for far less than a request's two
// seconds, and less than PostgreSQL takes to find a deadlock (1 s) and end one of the two; then it lets all go by.
const LOCK_TIMEOUT_MS = 200;
const PAUSE_MS = 500;
const MOST_TRIES = 100;

const makeTable = `
  create table if not exists migration (
    id     serial primary key,
    name   varchar(255) not null,
    run_on timestamp not null
  )`;
// Not by to_regclass: what a session once looked up in vain it does not look up again while it waits for the lock.
const isThere = `
  select exists (select from pg_class where relname = 'migration' and pg_table_is_visible(oid)) as there`;
const selectApplied = 'select name from migration order by name collate "C"';
const insertApplied = 'insert into migration (name, run_on) values ($1, now())';

/** One step of the schema: `migrations/NNNN_what.sql`. */
export interface Migration {
  name: string;
  sql: string;
}

/** How far a store is. */
export interface SchemaState {
  /** Names of the migrations that it has, in order; none of an empty database. */
  applied: string[];
  /** Those that it lacks, in order. */
  pending: Migration[];
}

/** What a store's schema is, and what it lacks. Throws a sentence where it is not an earlier one of this program's. */
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
      `The store lacks ${lacking[0]} although it has ${last}: no version of dbvitals made it so.`,
    );
  }
  const pending = lacking.map((name) => ({ name, sql: readFileSync(join(folder, `${name}.sql`), 'utf8') }));
  return { applied, pending };
}

/** Whether no migration was ever applied there. */
export async function isEmpty(address: StoreAddress): Promise<boolean> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    return (await readSchema(pool)).applied.length === 0;
  } finally {
    await pool.end();
  }
}

/** Has the schema alone until the transaction ends; waits for whoever is at it. */
export async function lockSchemaAlone(client: pg.ClientBase): Promise<void> {
  await client.query(lockSchema);
}

/** Keeps the schema as it is until the connection ends. Before a transaction: its snapshot must be younger than any migration. */
export async function keepSchema(client: pg.ClientBase): Promise<void> {
  await client.query(lockShared);
}

/** Applies migrations in the transaction of `client`, which holds the schema alone. Throws {@link MigrationError}. */
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

/** A migration that failed: its transaction must be rolled back. */
class MigrationError extends Error {
  constructor(name: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'unknown';
    super(
      `Migration ${name} failed and nothing was changed: the version of dbvitals that was started last still runs on this store. PostgreSQL says: ${reason.replace(/\.$/, '')}. Mend that, then start this one again.`,
      { cause },
    );
  }
}

/**
 * Brings the store's schema up to date and returns the names of the migrations that it applied: all in one transaction,
 * so that a failure leaves the schema as it was. Any number of processes may call it at once: they take turns. Throws
 * sentences that say what to do.
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
        if (tries === MOST_TRIES) throw new KeptWaitingError(error);
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

/** Whether somebody held what a migration needs: lock_not_available, or a deadlock after all. */
function isKeptWaiting(error: unknown): boolean {
  const code = codeOf(error);
  return code === '55P03' || code === '40P01';
}

class KeptWaitingError extends Error {
  constructor(cause: unknown) {
    super(
      'The schema could not be brought up to date for a minute and nothing was changed: a long transaction holds a table of the store. Find it in pg_stat_activity, let it end, then try again.',
      { cause },
    );
  }
}

const roles = `
  select format('create role %I nologin;', name) as make, to_regrole(name) is null as absent,
         quote_ident(current_user) as me
    from unnest(array['dbvitals_writer', 'dbvitals_reader', 'dbvitals_console']) as needed (name)
   where case when to_regrole(name) is null then true
              else not pg_has_role(current_user, to_regrole(name), 'member') end`;

/** The statements by which a superuser gives the store's user the roles that it acts as; null = it has them. */
async function grantRoles(pool: pg.Pool): Promise<string | null> {
  const { rows } = await pool.query<{ make: string; absent: boolean; me: string }>(roles);
  const [first] = rows;
  if (!first) return null;
  const make = rows.filter(({ absent }) => absent).map((row) => `${row.make} `);
  return `${make.join('')}grant dbvitals_writer, dbvitals_reader, dbvitals_console to ${first.me};`;
}

/** A sentence that says which roles to make and grant where that is what a migration was refused for; else null. */
export async function missingRoles(pool: pg.Pool, error: unknown): Promise<Error | null> {
  if (codeOf(error) !== '42501') return null;
  const statements = await grantRoles(pool);
  if (statements === null) return null;
  return new Error(
    `The store's user may not make the roles that dbvitals acts as: run this as a superuser, then try again: ${statements}`,
    { cause: error },
  );
}

const selectRights = `
  select rolsuper or rolcreaterole as makes_roles, quote_ident(rolname) as me,
         has_schema_privilege('public', 'create') as makes_tables
    from pg_roles where rolname = current_user`;

/** Why the store's user could not apply a migration, before one is tried; null = it could. */
export async function whyNoMigration(pool: pg.Pool): Promise<{ message: string; remedy: string } | null> {
  const { rows } = await pool.query<{ makes_roles: boolean; makes_tables: boolean; me: string }>(
    selectRights,
  );
  const [rights] = rows;
  if (!rights) return null;
  const statements = rights.makes_roles ? null : await grantRoles(pool);
  if (statements !== null) {
    return {
      message: "The store's user may not make the roles that dbvitals acts as, so a migration fails.",
      remedy: `Run this as a superuser: ${statements}`,
    };
  }
  if (rights.makes_tables) return null;
  return {
    message: "The store's user may not make tables in the schema public, so a migration fails.",
    remedy: `Run this as the database's owner: grant create on schema public to ${rights.me};`,
  };
}
