import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { StoreAddress } from '../../config/store-url.ts';
import { inTransaction, openPool } from '../connect.ts';
import { applyMigrations, lockSchemaAlone, missingRoles, readSchema, type SchemaState } from '../migrate.ts';
import { one } from '../one.ts';
import { readyForCopy } from './backup.ts';
import { type BackupEnd, type BackupHead, BackupReader, refuseAltered } from './backup-file.ts';
import { requireSignature, requireSignedForm } from './backup-signature.ts';
import { BACKED_UP } from './backup-tables.ts';

// Without the owner's sessions: one that this process has just closed may still be listed for a moment.
const selectUse = `
  select count(*)::int as sessions
    from pg_stat_activity
   where datname = current_database() and pid <> pg_backend_pid()
     and application_name in ('dbvitals writer', 'dbvitals reader')`;

const selectData = 'select from account union all select from login';
const orDirectory = 'union all select from directory_account';

// Triggers would count rows twice, and COPY can't fill tables with forced row-level security. The owner may disable both, and no
// other session sees the tables until the transaction ends. Foreign keys are still checked.
const withoutTriggers = (table: string) => `alter table ${table} disable trigger user`;
const withTriggers = (table: string) => `alter table ${table} enable trigger user`;
const unforced = (table: string) => `alter table ${table} no force row level security`;
const forced = (table: string) => `alter table ${table} force row level security`;
const selectForced = `
  select relname as name from pg_class
   where relname = any ($1) and relnamespace = current_schema()::regnamespace and relforcerowsecurity`;

const setIdentity = 'select setval(pg_get_serial_sequence($1, $2), $3)';

/** The result of a restore. */
export interface RestoredStore extends BackupHead {
  rows: number;
  /** The migrations that were applied to the restored rows. */
  applied: string[];
}

/**
 * Fills an empty store from a backup and brings its schema up to date, in one transaction. `approve` may check the result and
 * throw to roll it back. Throws sentences and changes nothing if the store contains data or is in use, or if the backup is of
 * a newer schema, incomplete, altered, or not signed with one of `secretKeys` (null = the signature is not checked).
 */
export async function restore(
  address: StoreAddress,
  file: Readable,
  secretKeys: readonly Buffer[] | null,
  approve: (client: pg.ClientBase) => Promise<void>,
): Promise<RestoredStore> {
  const reader = new BackupReader(file);
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    const head = await reader.head();
    if (secretKeys) requireSignedForm(head);
    return await inTransaction(pool, async (client) => {
      await lockSchemaAlone(client);
      const state = await readSchema(client);
      await refuseUsed(client, state);
      const [before, after] = split(state, head.migration);
      await readyForCopy(client);
      await applyMigrations(client, before);
      const rows = await fill(client, reader, head.tables, secretKeys);
      await applyMigrations(client, after);
      await client.query(`analyze ${head.tables.join(', ')}`);
      await approve(client);
      return { ...head, rows, applied: after.map(({ name }) => name) };
    });
  } catch (error) {
    throw (await missingRoles(pool, error)) ?? error;
  } finally {
    file.destroy();
    await pool.end();
  }
}

async function refuseUsed(client: pg.ClientBase, { applied }: SchemaState): Promise<void> {
  if (applied.length === 0) return;
  const { rows } = await client.query<{ sessions: number }>(selectUse);
  if (one(rows, 'count the sessions of the store').sessions !== 0) {
    throw new Error('The store is in use, and nothing was changed: stop the services that use it.');
  }
  const hasDirectory = applied.includes('0033_cells');
  const { rowCount } = await client.query(hasDirectory ? `${selectData} ${orDirectory}` : selectData);
  if (rowCount !== 0) {
    throw new Error(
      'The store holds data already, and nothing was changed: restore into an empty database, or an empty folder of DBVITALS_DATA_DIR.',
    );
  }
}

/** The missing migrations up to the backup's schema, and those after it. */
function split({ applied, pending }: SchemaState, migration: string) {
  if (!applied.includes(migration) && !pending.some(({ name }) => name === migration)) {
    throw new Error(
      `The backup is of a newer schema (${migration}) than this version of dbvitals knows: restore it with the version that made it, or a later one.`,
    );
  }
  if ((applied.at(-1) ?? '') > migration) {
    throw new Error(
      `The store's schema is newer than that of the backup (${migration}): restore into an empty database. The restore then applies the later migrations.`,
    );
  }
  return [
    pending.filter(({ name }) => name <= migration),
    pending.filter(({ name }) => name > migration),
  ] as const;
}

/** Fills the tables of the backup. Returns the number of rows. */
async function fill(
  client: pg.ClientBase,
  reader: BackupReader,
  tables: string[],
  secretKeys: readonly Buffer[] | null,
): Promise<number> {
  const unknown = tables.find((table) => !BACKED_UP.includes(table));
  if (unknown !== undefined) throw new Error(`The backup contains a table that no store has: ${unknown}.`);
  const { rows: secured } = await client.query<{ name: string }>(selectForced, [tables]);
  for (const table of tables) await client.query(withoutTriggers(table));
  for (const { name } of secured) await client.query(unforced(name));
  const found: BackupEnd['tables'] = {};
  for (;;) {
    const next = await reader.next();
    if ('end' in next) {
      refuseAltered(next.end, found, tables);
      if (secretKeys) requireSignature(secretKeys, next);
      for (const [column, last] of Object.entries(next.end.identities)) {
        if (last !== null) await client.query(setIdentity, [...column.split('.'), last]);
      }
      for (const { name } of secured) await client.query(forced(name));
      for (const table of tables) await client.query(withTriggers(table));
      return Object.values(found).reduce((sum, { rows }) => sum + rows, 0);
    }
    // An empty store that is this cell already has the row of the backup.
    if (next.table === 'cell') await client.query('delete from cell');
    const hash = createHash('sha256');
    const hashed = async function* () {
      for await (const rows of reader.rows()) {
        hash.update(rows);
        yield rows;
      }
    };
    const copied = client.query(copyFrom(`copy ${next.table} (${next.columns}) from stdin`));
    await pipeline(hashed, copied).catch((error: unknown) => {
      throw isInvalidData(error) ? invalidRows(next.table, error) : error;
    });
    found[next.table] = { rows: copied.rowCount, sha256: hash.digest('hex') };
  }
}

// Classes of SQLSTATE: a value that its type refuses, and a row that breaks a constraint.
function isInvalidData(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && /^(?:22|23|42)/.test(error.code ?? '');
}

/** A backup that this version did not write, or that was restored with `--unsigned`. */
function invalidRows(table: string, cause: Error): Error {
  return new Error(
    `The backup contains rows that the table ${table} can't hold, and nothing was changed: use another file. PostgreSQL says: ${cause.message}.`,
    { cause },
  );
}
