import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { fillSchema } from '../../../test/support/filled-schema.ts';
import { startTestStore } from '../../../test/support/store.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import { migrate } from '../migrate.ts';
import { backUp } from './backup.ts';

/** The secret that backups are signed with. */
export const SECRET = randomBytes(32);

/** A store with rows in every table, and a backup of it. */
export interface BackupStore {
  root: pg.Client;
  folder: string;
  source: StoreAddress;
  file: string;
  /** Creates a database of a role that has no more than README gives the store's owner. */
  emptyDatabase(name: string): Promise<StoreAddress>;
  /** Opens a connection that ends with the store. */
  connect(address: StoreAddress): Promise<pg.Client>;
  stop(): Promise<void>;
}

/** Starts a store, fills it and backs it up. */
export async function startBackupStore(): Promise<BackupStore> {
  const clients: pg.Client[] = [];
  const store = await startTestStore({ fsync: 'off' });
  const root = await store.superuser();
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-backup-'));
  const file = join(folder, 'whole.backup');
  async function emptyDatabase(name: string): Promise<StoreAddress> {
    await root.query(`create database ${name} owner plain`);
    return [{ ...store.address[0], user: 'plain', password: 'plain', database: name }];
  }
  async function connect([address]: StoreAddress): Promise<pg.Client> {
    const client = new pg.Client(address);
    clients.push(client);
    await client.connect();
    return client;
  }
  async function stop(): Promise<void> {
    await Promise.all(clients.map((client) => client.end()));
    await store.stop();
    rmSync(folder, { recursive: true });
  }
  await root.query(`create role plain login createrole password 'plain'`);
  await root.query('grant dbvitals_writer, dbvitals_reader, dbvitals_console to plain');
  const source = await emptyDatabase('source');
  await migrate(source);
  const client = await connect(source);
  await fillSchema(client, 0, Number.POSITIVE_INFINITY);
  await backUp(source, file, '1.2.3', SECRET);
  return { root, folder, source, file, emptyDatabase, connect, stop };
}

/** The message of the error that the work fails with. */
export const sentence = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  );

/** The content of a backup of the store, without its time. */
export async function heldBy({ folder }: BackupStore, address: StoreAddress): Promise<string> {
  const path = join(folder, 'again.backup');
  await backUp(address, path, '1.2.3', SECRET, { overwrite: true });
  return gunzipSync(readFileSync(path))
    .toString()
    .replace(/"made_at":"[^"]*"|^-- signed .*$/gm, '');
}

/** The backup's text with the hash of a table's rows made anew. */
export function withTable(text: string, table: string): string {
  const [, rows = ''] = new RegExp(`^copy ${table} .*\\n([^]*?)\\\\\\.\\n`, 'm').exec(text) ?? [];
  const sha256 = createHash('sha256').update(rows).digest('hex');
  return text.replace(new RegExp(`("${table}":{"rows":\\d+,"sha256":")\\w+`), `$1${sha256}`);
}
