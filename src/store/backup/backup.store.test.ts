import { randomBytes } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyRow, fillSchema } from '../../../test/support/filled-schema.ts';
import { waitForLock } from '../../../test/support/wait-for-lock.ts';
import type { StoreAddress } from '../../config/store-url.ts';
import { inTransaction, openPool } from '../connect.ts';
import { applyMigrations, migrate, readSchema } from '../migrate.ts';
import { backUp } from './backup.ts';
import { type BackupStore, heldBy, SECRET, sentence, startBackupStore, withTable } from './backup-fixture.ts';
import { BACKED_UP, LEFT_OUT } from './backup-tables.ts';
import { checkBackup } from './check-backup.ts';
import { restore } from './restore.ts';

let backups: BackupStore;
let folder: string;
let source: StoreAddress;
let file: string;
let emptyDatabase: BackupStore['emptyDatabase'];
let connect: BackupStore['connect'];

beforeAll(async () => {
  backups = await startBackupStore();
  ({ folder, source, file, emptyDatabase, connect } = backups);
});

afterAll(() => backups.stop());

const approve = async () => {};
const restoreFile = (address: StoreAddress, path = file, keys: Buffer[] | null = [SECRET]) =>
  restore(address, createReadStream(path), keys, approve);

test('the lists name every table of the schema, each after the tables that it references', async () => {
  const client = await connect(source);
  const { rows: tables } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  expect([...BACKED_UP, ...LEFT_OUT].toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  const { rows: references } = await client.query<{ of: string; on: string }>(
    `select conrelid::regclass::text as of, confrelid::regclass::text as on from pg_constraint where contype = 'f'`,
  );
  const wrong = references.filter(
    ({ of, on }) =>
      BACKED_UP.includes(of) && !(BACKED_UP.indexOf(on) <= BACKED_UP.indexOf(of) && BACKED_UP.includes(on)),
  );
  expect(wrong).toEqual([]);
});

test('a restore is identical to the backup, to the last byte, even if the owner is not a superuser', async () => {
  const address = await emptyDatabase('target');
  const restored = await restoreFile(address);
  expect(restored).toMatchObject({ dbvitals: '1.2.3', applied: [], tables: BACKED_UP });
  expect(await heldBy(backups, address)).toBe(await heldBy(backups, source));
  const client = await connect(address);
  const rows = await everyRow(client);
  expect(rows).toEqual(await everyRow(await connect(source)));
  expect(restored.rows).toBe(Object.values(rows).flat().length);
  // And it works like any store: its triggers, policies and next numbers are the same.
  const { rows: open } = await client.query(
    `select count(*) filter (where not relforcerowsecurity)::int as open,
            (select count(*)::int from pg_trigger where tgenabled <> 'O') as off
       from pg_class where relname = any ($1) and relname not in ('login', 'passkey')`,
    [BACKED_UP],
  );
  expect(open).toEqual([{ open: 0, off: 0 }]);
  const { rows: made } = await client.query(
    `insert into account (name, kind, plan) values ('Next', 'company', 'team') returning account_id`,
  );
  expect(made).toEqual([{ account_id: 3 }]);
});

test('a backup does not contain sign-ins under way', async () => {
  const address = await emptyDatabase('signed_in');
  await migrate(address);
  const client = await connect(address);
  await fillSchema(client, 0, Number.POSITIVE_INFINITY);
  await client.query(
    `insert into session (token_hash, login_id, account_id, expires_at, source_ip, user_agent)
     values (sha256('unspoken-token'), 1, 1, '2090-01-01', '203.0.113.9', 'unspoken-browser')`,
  );
  expect(await heldBy(backups, address)).not.toContain('unspoken-browser');
});

test('a backup during writes is of one instant', async () => {
  const address = await emptyDatabase('busy');
  await migrate(address);
  const client = await connect(address);
  await fillSchema(client, 0, Number.POSITIVE_INFINITY);
  let going = true;
  const writing = (async () => {
    while (going) {
      await client.query(`
        with head as (update activity_head set last_id = last_id + 1, last_at = clock_timestamp() where account_id = 1 returning *)
        insert into activity (account_id, id, occurred_at, action_type, page_path) select 1, last_id, last_at, 'api_request', '/' from head`);
    }
  })();
  const path = join(folder, 'busy.backup');
  for (let turn = 0; turn < 5; turn += 1) await backUp(address, path, '1.2.3', SECRET, { overwrite: true });
  going = false;
  await writing;
  const target = await emptyDatabase('calm');
  await restoreFile(target, path);
  const { rows } = await (await connect(target)).query(
    `select (select last_id from activity_head where account_id = 1) as head,
            (select max(id) from activity where account_id = 1) as last, (select count(*) from activity where account_id = 1) as count`,
  );
  expect(rows[0].head).toBeGreaterThan(410);
  expect(rows[0]).toMatchObject({ last: rows[0].head, count: rows[0].head - 60 });
});

test('a backup of an older schema is restored and brought up to date', async () => {
  const old = await emptyDatabase('old');
  const pool = openPool(old, 'owner', { max: 1 });
  await inTransaction(pool, async (client) =>
    applyMigrations(client, (await readSchema(client)).pending.slice(0, 3)),
  );
  await pool.end();
  const client = await connect(old);
  await fillSchema(client, 0, 3);
  const path = join(folder, 'old.backup');
  const { migration } = await backUp(old, path, '1.2.3', SECRET);
  expect(migration).toMatch(/^0003_/);
  const target = await emptyDatabase('old_restored');
  const { applied } = await restoreFile(target, path);
  expect(applied[0]).toMatch(/^0004_/);
  await migrate(old);
  expect(await everyRow(await connect(target))).toEqual(await everyRow(client));
  // A newer schema can't take its rows.
  const further = await emptyDatabase('further');
  await migrate(further);
  expect(await sentence(restoreFile(further, path))).toMatch(/newer than that of the backup \(0003_\w+\)/);
});

test('a store with data, a store in use, and a backup of a newer schema are rejected', async () => {
  expect(await sentence(restoreFile(source))).toMatch(
    /^The store holds data already, and nothing was changed: /,
  );
  const used = await emptyDatabase('used');
  await migrate(used);
  const service = openPool(used, 'writer', { max: 1 });
  await service.query('select 1');
  expect(await sentence(restoreFile(used))).toMatch(/^The store is in use/);
  await service.end();
  const newer = join(folder, 'newer.backup');
  writeFileSync(
    newer,
    gzipSync(
      gunzipSync(readFileSync(file))
        .toString()
        .replace(/"migration":"\w+"/, '"migration":"9001_well"'),
    ),
  );
  expect(await sentence(restoreFile(await emptyDatabase('newer'), newer))).toMatch(
    /newer schema \(9001_well\)/,
  );
});

test('an incomplete, altered or invalid backup restores nothing', async () => {
  const whole = readFileSync(file);
  const text = gunzipSync(whole).toString();
  const address = await emptyDatabase('untouched');
  const wrong: Record<string, Buffer> = {
    'not a complete backup of dbvitals: its first line': gzipSync('select 1;\n'),
    'cut off': whole.subarray(0, whole.length / 2),
    'cut off or altered': Buffer.from(text),
    'too early': gzipSync(text.slice(0, text.length - 400)),
    'signature is missing': gzipSync(text.replace(/-- signed .*\n$/, 'select 1;\n')),
    'too early|signature': gzipSync(text.replace(/-- signed .*\n$/, '')),
    'in the table login': gzipSync(text.replace('ada@example.com', 'eve@example.com')),
    'in the table activity': gzipSync(text.replace(/^1\t70\t.*\n/m, '')),
    'something follows': gzipSync(`${text}select 1;\n`),
    'invalid line': gzipSync(text.replace(/^copy member .*$/m, 'drop table member;')),
    // Printed by "backup verify --unsigned": a text that a terminal obeys.
    'its first line': gzipSync(text.replace(/"dbvitals":"/, '$&\\u001b]0;owned\\u0007')),
    'first line is not': gzipSync(text.replace('"tables":["account"', '"tables":["account\\n\\u202e"')),
    'a table that no store has': gzipSync(text.replace('"tables":["account"', '"tables":["pg_authid"')),
    'that its head does not name': gzipSync(text.replace('copy member (', 'copy session (')),
    'twice those of one': gzipSync(text.replace(/^copy member .*$/m, `$&\n\\.\n$&`)),
  };
  for (const [why, bytes] of Object.entries(wrong)) {
    const path = join(folder, 'wrong.backup');
    writeFileSync(path, bytes);
    expect(await sentence(restoreFile(address, path))).toMatch(new RegExp(why));
  }
  const refused = restore(address, createReadStream(file), [SECRET], async () => {
    throw new Error('not approved');
  });
  expect(await sentence(refused)).toBe('not approved');
  const client = await connect(address);
  const { rows } = await client.query(`select from pg_class where relnamespace = 'public'::regnamespace`);
  expect(rows).toEqual([]);
});

function unpacks(bytes: Buffer, contents: Buffer): boolean {
  try {
    return gunzipSync(bytes).equals(contents);
  } catch {
    return false;
  }
}

test('each flipped byte is found without a store, and named in a sentence', async () => {
  const whole = readFileSync(file);
  const check = (bytes: Buffer) => sentence(checkBackup(Readable.from([bytes]), [SECRET]));
  expect(await check(whole)).toBe('nothing was refused');
  const contents = gunzipSync(whole);
  const places = [
    0,
    1,
    2,
    3,
    ...Array.from({ length: 60 }, (_, at) => 10 + Math.floor((at * (whole.length - 11)) / 59)),
  ];
  for (const at of places) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(at) ^ 0x40, at);
    // A few bits of gzip stand for nothing, such as those that fill a byte: then what is unpacked is what was signed.
    const refused = unpacks(flipped, contents)
      ? /^nothing was refused$/
      : /^(?:This is not a complete backup of dbvitals: |The backup was altered or damaged in the table |The backup is not signed with this secret key )/;
    expect(await check(flipped), `byte ${at}`).toMatch(refused);
  }
});

test('a line or row that is far too long is refused without reading it whole', async () => {
  const long = (start: string) =>
    gzipSync(Buffer.concat([Buffer.from(start), Buffer.alloc(80 * 2 ** 20, 'x')]), { level: 1 });
  const text = gunzipSync(readFileSync(file)).toString();
  const [start = ''] = /^.*\n.*\n/.exec(text) ?? [];
  for (const [bytes, why] of [
    [long(''), 'a line that is too long'],
    [long(start), 'a row that is too long'],
  ] as const) {
    expect(await sentence(checkBackup(Readable.from([bytes]), [SECRET]))).toContain(`: it contains ${why}.`);
  }
});

test('a small file that unpacks to many empty rows costs no more than one of long rows', async () => {
  const text = gunzipSync(readFileSync(file)).toString();
  const [start = ''] = /^.*\n.*\n/.exec(text) ?? [];
  const rows = Buffer.alloc(64 * 2 ** 20, `${'x'.repeat(2 ** 20 - 1)}\n`);
  const empty = Buffer.alloc(rows.length, '\n');
  const secondsOf = async (rows: Buffer) => {
    const bytes = gzipSync(Buffer.concat([Buffer.from(start), rows]), { level: 1 });
    const began = process.cpuUsage();
    expect(await sentence(checkBackup(Readable.from([bytes]), [SECRET]))).toContain('ends too early');
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1_000_000;
  };
  await secondsOf(rows.subarray(0, 2 ** 24)); // the code is compiled
  const inLongRows = await secondsOf(rows);
  expect(await secondsOf(empty)).toBeLessThan(2.5 * inLongRows + 0.2);
});

test('a backup with a planted password hash is rejected, unless --unsigned is given', async () => {
  const text = gunzipSync(readFileSync(file)).toString();
  const planted = withTable(
    text.replace('\tAda\tx\t', '\tAda\t$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA\t'),
    'login',
  );
  expect(planted).toContain('$argon2id$');
  const path = join(folder, 'planted.backup');
  const address = await emptyDatabase('planted');
  const said: string[] = [];
  for (const form of [
    planted,
    planted.replace(/^-- signed .*\n/m, `-- signed ${'0'.repeat(64)}\n`),
    // As if it had the format without a signature.
    planted.replace('"format":2', '"format":1').replace(/^-- signed .*\n/m, ''),
  ]) {
    writeFileSync(path, gzipSync(form));
    said.push(await sentence(restoreFile(address, path)));
  }
  expect(said).toEqual([
    expect.stringMatching(/^The backup is not signed with this secret key \(it was altered.*--unsigned/),
    expect.stringMatching(/^The backup is not signed with this secret key \(it was altered.*--unsigned/),
    expect.stringMatching(
      /^The backup is not signed with this secret key \(it has no signature\).*--unsigned/,
    ),
  ]);
  const { rows } = await (await connect(address)).query('select from pg_class where relname = $1', ['login']);
  expect(rows).toEqual([]);
  expect(await restoreFile(address, path, null)).toMatchObject({ format: 1, dbvitals: '1.2.3' });
});

test('a backup verifies with each of the keys, also after a rotation, and with no other key', async () => {
  const newer = randomBytes(32);
  expect(await sentence(restoreFile(await emptyDatabase('other'), file, [newer]))).toMatch(
    /another secret key/,
  );
  expect(await restoreFile(await emptyDatabase('rotated'), file, [newer, SECRET])).toMatchObject({
    format: 2,
  });
});

test('a backup waits for a migration under way and then contains its changes', async () => {
  const address = await emptyDatabase('migrating');
  await migrate(address);
  const pool = openPool(address, 'owner', { max: 1 });
  let done: Promise<unknown> = Promise.resolve();
  await inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(7241865325823964)`);
    await client.query('lock table account in access exclusive mode');
    await client.query(`insert into account (name, kind, plan) values ('while it waits', 'company', 'team')`);
    done = heldBy(backups, address);
    await waitForLock(client);
  });
  await pool.end();
  expect(await done).toContain('while it waits');
});
