import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { StoreAddress } from '../../config/store-url.ts';
import { keepSchema, readSchema } from '../migrate.ts';
import { type BackupEnd, copyLine, endOfRows, headLine, lastLine, signatureLine } from './backup-file.ts';
import { signBackup } from './backup-signature.ts';
import { BACKED_UP } from './backup-tables.ts';
import { inDraft } from './draft-file.ts';
import { withOwnerSession } from './owner-session.ts';

// Measured on rows of a log: 6.5 ms of CPU per MB, which becomes a quarter. Level 6 takes 10 ms to save another tenth.
const GZIP_LEVEL = 1;

// Resets settings of a role or database that would interrupt COPY or change its format.
const settings = `
  select set_config(name, '0', true) from pg_settings
   where name in ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
   union all
  select set_config(name, value, true)
    from (values ('datestyle', 'ISO'), ('intervalstyle', 'postgres'), ('extra_float_digits', '3'), ('bytea_output', 'hex'))
      as form (name, value)`;

/** Prepares a client's transaction for COPY in the format of backups, without a time limit. */
export async function readyForCopy(client: pg.ClientBase): Promise<void> {
  await client.query(settings);
}

const selectNow = `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`;

// The tables of the store's schema; an older schema lacks some of them. Generated columns are computed again.
const selectTables = `
  select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
    from unnest($1::text[]) with ordinality as wanted (name, place)
    join pg_class c on c.oid = to_regclass(wanted.name)
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
   group by wanted.place, c.relname
   order by wanted.place`;

// Sequences are not transactional, so a value read after the snapshot is never lower than those in it.
const selectIdentities = `
  select c.relname || '.' || a.attname as column,
         pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass) as last
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attidentity <> ''
   where c.relnamespace = current_schema()::regnamespace
   order by 1`;

/** A finished backup. */
export interface MadeBackup {
  made_at: string;
  migration: string;
  tables: number;
  rows: number;
  /** Of the file. */
  bytes: number;
  /** Of the file. */
  sha256: string;
}

/** How a backup is written. */
export interface BackupOptions {
  /** Whether an existing file is replaced; default: no. */
  overwrite?: boolean;
  /** Ends the backup, which leaves no file. */
  signal?: AbortSignal | undefined;
  /** Gets how many bytes of the file were written so far. */
  progress?: (bytes: number) => void;
}

/**
 * Backs up the store as of one instant, while it is in use, to `target`: a stream, or a file that is written completely or not
 * at all. `version` is this program's. No table contains the keys of DBVITALS_SECRET_KEY; `secretKey`, the first of them, signs
 * the backup. Throws sentences.
 */
export async function backUp(
  address: StoreAddress,
  target: string | Writable,
  version: string,
  secretKey: Buffer,
  { overwrite = false, signal, progress = () => {} }: BackupOptions = {},
): Promise<MadeBackup> {
  return withOwnerSession(address, signal, async (client) => {
    await keepSchema(client);
    const copy = (output: Writable) => copyStore(client, output, version, { secretKey, progress });
    return typeof target === 'string' ? inDraft(target, overwrite, copy) : copy(target);
  });
}

/** The error of a backup of an empty database. */
export class NothingToBackUp extends Error {
  constructor() {
    super('There is nothing to back up: dbvitals was never started on this store.');
  }
}

async function copyStore(
  client: pg.ClientBase,
  output: Writable,
  version: string,
  { secretKey, progress }: { secretKey: Buffer; progress: (bytes: number) => void },
): Promise<MadeBackup> {
  const { applied } = await readSchema(client);
  const migration = applied.at(-1) ?? '';
  if (migration === '') throw new NothingToBackUp();
  await client.query('begin isolation level repeatable read read only');
  await readyForCopy(client);
  const { rows: times } = await client.query<{ at: string }>(selectNow);
  const made = { made_at: times[0]?.at ?? '', migration, tables: 0, rows: 0, bytes: 0 };
  const sha256 = createHash('sha256');

  async function* signed(): AsyncGenerator<string | Buffer> {
    const text = createHash('sha256');
    for await (const part of linesOf(client, version, made)) {
      text.update(part);
      yield part;
    }
    yield signatureLine(signBackup(secretKey, text.digest()));
  }

  async function* measured(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      sha256.update(chunk);
      made.bytes += chunk.length;
      progress(made.bytes);
      yield chunk;
    }
  }

  await pipeline(signed, createGzip({ level: GZIP_LEVEL }), measured, output);
  await client.query('commit');
  return { ...made, sha256: sha256.digest('hex') };
}

/** The lines of a backup but for its signature. Counts tables and rows in `made`. */
async function* linesOf(
  client: pg.ClientBase,
  version: string,
  made: Omit<MadeBackup, 'sha256'>,
): AsyncGenerator<string | Buffer> {
  const { rows: tables } = await client.query<{ name: string; columns: string }>(selectTables, [BACKED_UP]);
  const names = tables.map(({ name }) => name);
  yield headLine({ dbvitals: version, made_at: made.made_at, migration: made.migration, tables: names });
  const end: BackupEnd = { tables: {}, identities: {} };
  for (const { name, columns } of tables) {
    yield copyLine(name, columns);
    const copied = client.query(copyTo(`copy ${name} (${columns}) to stdout`));
    const hash = createHash('sha256');
    for await (const rows of copied) {
      hash.update(rows);
      yield rows;
    }
    yield endOfRows;
    await client.query(''); // the count arrives after the rows
    end.tables[name] = { rows: copied.rowCount, sha256: hash.digest('hex') };
    made.tables += 1;
    made.rows += copied.rowCount;
  }
  const { rows: identities } = await client.query<{ column: string; last: number | null }>(selectIdentities);
  for (const { column, last } of identities) end.identities[column] = last;
  yield lastLine(end);
}
