import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask } from './ask.ts';
import { command, commandJson } from './command.ts';
import { type Environment, embeddedUrl, temporaryFolder } from './running-service.ts';

// What somebody can do who owns the store's database, and what docs/seals.md says that `activity verify` tells of it.

const folder = temporaryFolder();
const environment: Environment = inject('environment');
let owner: pg.Client;

beforeAll(async () => {
  const url =
    environment['DATABASE_URL'] ?? embeddedUrl(environment['DBVITALS_DATA_DIR'] ?? '')['DATABASE_URL'];
  owner = new pg.Client({ connectionString: url });
  await owner.connect();
});

// The service that all suites share finds their logs new, and not forged.
const attacked: number[] = [];

afterAll(async () => {
  for (const id of attacked) await attack(id, ...DELETE_SEALS, DELETE_KEY);
  await owner.end();
  folder.remove();
});

interface Sealed {
  id: number;
  /** What was printed and kept elsewhere. */
  publicKey: string;
  sealFile: string;
}

/** A sealed log, whose entries are of two days ago where `old`; its key and seals are kept elsewhere. */
async function sealedLog(old = true): Promise<Sealed> {
  const { id, key } = await makeAccount();
  for (let turn = 0; turn < 5; turn += 1) await ask('/api/v1/health/fleet', { key });
  if (old) {
    await owner.query(
      `update activity set occurred_at = occurred_at - interval '2 days' where account_id = $1`,
      [id],
    );
  }
  attacked.push(id);
  const sealFile = join(folder.path, `seals-${id}.ndjson`);
  await seal(id, { ...environment, DBVITALS_SEAL_FILE: sealFile });
  const { public_key: publicKey } = await commandJson<{ public_key: string }>([
    'activity',
    'seal',
    '--account',
    String(id),
    '--public-key',
  ]);
  return { id, publicKey, sealFile };
}

const seal = (id: number, settings = environment) =>
  commandJson(['activity', 'seal', '--account', String(id)], { environment: settings });

const verify = (id: number, ...args: string[]) =>
  command(['activity', 'verify', '--account', String(id), ...args]);

/** As the owner, who gives itself whatever right it lacks. */
async function attack(id: number, ...statements: string[]): Promise<void> {
  await owner.query(
    'grant update, delete on activity_seal, activity_leaves, seal_key to current_user; grant update, delete on activity to current_user',
  );
  for (const statement of statements) await owner.query(statement, [id]);
  await owner.query(
    'revoke update, delete on activity_seal from current_user; revoke update on activity_leaves from current_user; revoke delete on seal_key from current_user',
  );
}

const EDIT = `update activity set page_path = '/elsewhere' where account_id = $1 and id = 3`;
const DELETE_SEALS = [
  'delete from activity_seal where account_id = $1',
  'delete from activity_leaves where account_id = $1',
];
const DELETE_KEY = 'delete from seal_key where account_id = $1';
const LATE = /^Entries 1 to \d+ from \S+ on: sealed more than an hour late, at \S+\.$/m;

test('a log that was sealed in time is not reported as late', async () => {
  const { id, publicKey, sealFile } = await sealedLog(false);
  const { exit, stdout } = await verify(id, '--strict', '--public-key', publicKey, '--seal-file', sealFile);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.not.stringMatching(/late|older/) });
});

test('entries are edited, the seals deleted, the log sealed again: it says late, and the file says which entry', async () => {
  const { id, publicKey, sealFile } = await sealedLog();
  await attack(id, EDIT, ...DELETE_SEALS);
  await seal(id);
  const plain = await verify(id);
  expect(plain).toEqual({ exit: 0, stdout: expect.stringMatching(LATE), stderr: '' });
  expect(await verify(id, '--strict')).toEqual({ ...plain, exit: 2 });
  // The service has signed it: the key alone tells nothing.
  expect((await verify(id, '--public-key', publicKey)).exit).toBe(0);
  expect(await verify(id, '--seal-file', sealFile)).toMatchObject({
    exit: 2,
    stderr: `error: Entry 3 of account ${id} was edited.\n`,
  });
});

test('the seals are deleted and nothing is sealed again: what waits is told', async () => {
  const { id, sealFile } = await sealedLog();
  await attack(id, EDIT, ...DELETE_SEALS);
  const { exit, stdout } = await verify(id, '--json');
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ late: [{ first_id: 1, sealed_at: null, sample: false }] });
  expect((await verify(id, '--strict')).stdout).toMatch(
    /^Entries 1 to \d+ .* not sealed, although more than an hour old/m,
  );
  expect((await verify(id, '--strict')).exit).toBe(2);
  expect((await verify(id, '--seal-file', sealFile)).exit).toBe(2);
});

test('the signing key is deleted, and the service makes another: the key that was kept tells', async () => {
  const { id, publicKey } = await sealedLog();
  await attack(id, EDIT, ...DELETE_SEALS, DELETE_KEY);
  await seal(id);
  expect(await verify(id)).toMatchObject({ exit: 0, stdout: expect.stringMatching(LATE) });
  const file = join(folder.path, 'keys.txt');
  writeFileSync(file, `${publicKey}\n`);
  for (const key of [publicKey, file]) {
    expect(await verify(id, '--public-key', key)).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^error: Seal 1 .* is forged: it is signed with a key that is not ours\.\n$/,
      ),
    });
  }
});

test('the signing key is replaced by one of the attacker: the service does not believe it', async () => {
  const { id, publicKey } = await sealedLog();
  await attack(
    id,
    `update seal_key set public_key = sha256('x'), sealed = sha256('y') where account_id = $1`,
  );
  for (const args of [[], ['--public-key', '0'.repeat(64)]]) {
    expect(await verify(id, ...args)).toMatchObject({ exit: 2, stderr: expect.stringMatching(/is forged/) });
  }
  // The seals are still those that the kept key has signed.
  expect((await verify(id, '--public-key', publicKey)).exit).toBe(0);
});

test.each([
  [
    'of the seal',
    'update activity_seal set sealed_at = last_at where account_id = $1',
    /Seal 1 .* is forged/,
  ],
  [
    'of the entries',
    `update activity set occurred_at = occurred_at + interval '2 days' where account_id = $1`,
    /Entry 1 .* was edited/,
  ],
])('times %s are turned: it is told', async (_whose, statement, told) => {
  const { id } = await sealedLog();
  await attack(id, statement);
  expect(await verify(id)).toMatchObject({ exit: 2, stderr: expect.stringMatching(told) });
});

test('delivered batches are proved without a store, by the seal file and the kept key, or by the store', async () => {
  const { id, publicKey, sealFile } = await sealedLog(false);
  const exported = join(folder.path, `export-${id}`);
  await commandJson(['activity', 'export', '--account', String(id), '--out', exported]);
  const batches = join(folder.path, `batches-${id}`);
  mkdirSync(batches);
  // The text of an export is that of a stream with the format sealed.
  const entries = readFileSync(join(exported, 'entries.ndjson'), 'utf8').trim().split('\n');
  const put = (name: string, part: string[]) => writeFileSync(join(batches, name), part.join('\n'));
  put('a.ndjson', entries.slice(0, 3));
  put('b.ndjson', entries.slice(3));
  const alone = ['activity', 'verify', batches, '--seal-file', sealFile, '--public-key', publicKey];
  const nowhere = {
    environment: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x', DBVITALS_SECRET_KEY: 'ab'.repeat(32) },
  };
  expect(await command([...alone, '--to-id', '4'], nowhere)).toMatchObject({
    exit: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^Entries 1 to 4 of account \d+ match .*\n(?:.*\n)*All of them are in the directory \(2 files\)\.\nSigned with .*\n$/,
    ),
  });
  const byStore = ['activity', 'verify', batches];
  expect((await command(byStore)).exit).toBe(0);
  put('c.ndjson', entries.slice(3));
  const twice = await command([...byStore, '--strict']);
  expect(twice).toMatchObject({
    exit: 2,
    stdout: expect.stringMatching(
      /came again: c\.ndjson, from record 1 on; also in b\.ndjson\.\nSigned with .*\n$/,
    ),
  });
  put('a.ndjson', entries.slice(0, 2));
  const broken = {
    exit: 2,
    stdout: '',
    stderr: `error: Entry 3 of account ${id} is missing: entry 2 is in a.ndjson, record 2; entry 4 is in b.ndjson, record 1.\n`,
  };
  expect(await command(alone, nowhere)).toEqual(broken);
  expect(await command(byStore)).toEqual(broken);
  put('a.ndjson', ['x']);
  expect(await command(alone, nowhere)).toMatchObject({
    exit: 1,
    stderr: 'error: a.ndjson is not JSON of entries: see what follows record 0.\n',
  });
});

test('a wrong secret key is not reported as a forged log: it has its own exit code and sentence', async () => {
  const { id, publicKey } = await sealedLog(false);
  const url =
    environment['DATABASE_URL'] ?? embeddedUrl(environment['DBVITALS_DATA_DIR'] ?? '')['DATABASE_URL'] ?? '';
  const other = { DATABASE_URL: url, DBVITALS_SECRET_KEY: randomBytes(32).toString('hex') };
  const args = ['activity', 'verify', '--account', String(id)];
  const { exit, stdout, stderr } = await command(args, { environment: other });
  expect({ exit, stdout }).toEqual({ exit: 3, stdout: '' });
  expect(stderr).toMatch(/^error: The secret key does not belong to this store: .*--public-key\.\n$/);
  const json = await command([...args, '--json'], { environment: other });
  expect(json.exit).toBe(3);
  expect(JSON.parse(json.stdout)).toMatchObject({ verified: null, account_id: id });
  // The key that was kept needs no secret.
  expect((await command([...args, '--public-key', publicKey], { environment: other })).exit).toBe(0);
});

test('sample data is marked as sample data', async () => {
  const { id } = await makeAccount();
  await commandJson([
    'sample-data',
    '--account',
    String(id),
    '--activity',
    '50',
    '--connections',
    '0',
    '--tickets',
    '0',
  ]);
  await seal(id);
  const { stdout } = await verify(id);
  expect(stdout).toMatch(/^Entries \d+ to \d+, sample data, from \S+ on: sealed more than an hour late/m);
  const { late } = JSON.parse((await verify(id, '--json')).stdout);
  expect(late.filter(({ sample }: { sample: boolean }) => sample)).toHaveLength(1);
});
