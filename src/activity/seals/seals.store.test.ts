import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { writeLog } from '../../../test/support/write-log.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { inTransaction, openPool } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { pruneEntries } from '../prune-entries.ts';
import { sealEntries } from './record-seals.ts';
import { openSealFile } from './seal-file.ts';
import { openSealKeys, replaceLostSealKey } from './seal-key.ts';
import { parseSealLine } from './seal-line.ts';
import { at, TAMPERINGS, type Tampering, tamperWith } from './tampering-fixture.ts';
import { verifyStore } from './verify-store.ts';

let store: TestStore;
let root: pg.Client;
let owner: pg.Pool;
let folder: string;
let file: string;
let accountId: number;

// Ten days with 30 entries and one seal each: seal n covers the entries 30n - 29 to 30n.
const LOG = { length: 300, rare: 'event', days: 10 } as const;

beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser('store');
  owner = openPool(store.address, 'owner', { max: 2 });
});

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-seals-'));
  file = join(folder, 'seals.ndjson');
  accountId = await writeLog(store, LOG);
  await seal();
  expect(await openSealFile(file).append(owner)).toEqual([]);
});

afterEach(async () => {
  rmSync(folder, { recursive: true });
  await root.query(`set session_replication_role = origin;
    truncate activity, activity_floor, activity_head, activity_type_head, activity_seal, activity_leaves, seal_key`);
});

afterAll(async () => {
  await owner.end();
  await store.stop();
});

async function seal(
  activityDays: number | null = null,
  pool = owner,
  secret = store.deps.secret,
): Promise<number> {
  let seals = 0;
  for await (const _ of sealEntries({ owner: pool, secret, activityDays })) seals += 1;
  return seals;
}

async function verify(exported: string | null = null, account = accountId) {
  const keys = await openSealKeys(owner, store.deps.secret, account);
  return inTransaction(store.writer, (client) =>
    verifyStore(within(client), account, new Set(keys.keys()), exported),
  );
}

/** Runs SQL as the superuser, who bypasses privileges and policies. */
const attack = (statement: string, values: unknown[] = []) => root.query(statement, values);

test('an unchanged log is verified, and its unsealed entries are counted', async () => {
  expect(await verify()).toMatchObject({ verified: true, first_id: 1, last_id: 300, seals: 10, unsealed: 0 });
  expect(await verify(file)).toMatchObject({ verified: true, last_id: 300 });
  expect(await seal()).toBe(0);
  await attack('update activity_head set last_id = 305');
  expect(await verify()).toMatchObject({ verified: true, last_id: 300, unsealed: 5 });
});

describe('verification detects changes by the database owner', () => {
  const run: Tampering['run'] = (statement) => tamperWith(root, accountId).run(statement);
  const forge: Tampering['forge'] = (number) => tamperWith(root, accountId).forge(number);

  test.each(TAMPERINGS)('%s', async (_name, tamper, first_bad_id, how) => {
    await tamper(tamperWith(root, accountId));
    const verdict = await verify();
    expect(verdict).toMatchObject({ verified: false, first_bad_id, how });
    expect(verdict).toMatchObject({ message: expect.stringMatching(/^[A-Z].*\.$/) });
  });

  test('the seal file identifies the entry and the seal that the store alone can’t', async () => {
    await run(`update activity set page_path = '/x' ${at(47)}`);
    await forge(2);
    expect(await verify(file)).toMatchObject({ verified: false, first_bad_id: 47, how: 'edited' });
    await run(`update activity set page_path = '/api/v1/health/fleet' ${at(47)}`);
    expect(await verify(file)).toMatchObject({ verified: false, first_bad_id: 31, how: 'seal forged' });
  });

  test('the last seals are removed, and the entries changed before they are sealed again', async () => {
    await run('delete from activity_seal where account_id = ACCOUNT and number > 8');
    expect(await verify()).toMatchObject({ verified: true, last_id: 240, unsealed: 60 });
    expect(await verify(file)).toMatchObject({ verified: false, first_bad_id: 241, how: 'seal missing' });
    await run(`delete from activity_leaves where account_id = ACCOUNT and last_id > 240`);
    await run(`update activity set page_path = '/x' ${at(255)}`);
    await seal();
    expect(await verify()).toMatchObject({ verified: true, last_id: 300 });
    expect(await verify(file)).toMatchObject({ verified: false, first_bad_id: 255, how: 'edited' });
    // A service with the seal file reports it by itself, and does not mix the two.
    const before = readFileSync(file, 'utf8');
    expect(await openSealFile(file).append(owner)).toEqual([accountId]);
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('no seal is built on an altered seal', async () => {
    await run(`update activity_seal set cut_to = 290 where account_id = ACCOUNT and number = 10`);
    await attack('update activity_head set last_id = 301');
    await expect(seal()).rejects.toThrow(/^Seal 10 of account \d+ is not as it was signed/);
  });
});

describe('after the secret key was lost', () => {
  const lost = () => store.deps.secret;
  const fresh = [randomBytes(32)] as const;
  const openKeys = (...secrets: SecretKeys[]) =>
    Promise.all(secrets.map((secret) => openSealKeys(owner, secret, accountId))).then(
      (all) => new Set(all.flatMap((keys) => [...keys.keys()])),
    );
  const verifyBy = async (...secrets: SecretKeys[]) => {
    const keys = await openKeys(...secrets);
    return inTransaction(store.writer, (client) => verifyStore(within(client), accountId, keys, null));
  };
  const replaceKey = (secret: SecretKeys = fresh) =>
    inTransaction(owner, (client) => replaceLostSealKey(client, secret, accountId));

  /** The key is lost while the entries from 241 on wait for their seals. */
  beforeEach(async () => {
    await attack('delete from activity_seal where number > 8');
    await attack('delete from activity_leaves where last_id > 240');
  });

  test('seals go on with a new key, and both keys verify the whole log', async () => {
    await replaceKey();
    expect(await seal(null, owner, fresh)).toBe(2);
    expect(await verifyBy(lost(), fresh)).toMatchObject({ verified: true, last_id: 300, seals: 10 });
    expect(await verifyBy(fresh)).toMatchObject({ verified: false, how: 'seal forged', first_bad_id: 1 });
  });

  test('a second key may be lost too: retention waits for later seals', async () => {
    await replaceKey();
    await seal(null, owner, fresh);
    await attack('delete from activity_seal where number > 9');
    await attack('delete from activity_leaves where last_id > 270');
    const another = [randomBytes(32)] as const;
    await replaceKey(another);
    expect(await seal(4, owner, another)).toBe(1);
    expect(await verifyBy(lost(), fresh, another)).toMatchObject({ verified: true, last_id: 300, cut_to: 0 });
  });

  test('retention may delete what the lost key sealed', async () => {
    await replaceKey();
    await seal(4, owner, fresh);
    expect(await verifyBy(lost(), fresh)).toMatchObject({ verified: true, cut_to: 180 });
  });

  test('no seal follows another one than the last when the key was replaced', async () => {
    await replaceKey();
    await attack('update activity_seal set cut_to = 230 where account_id = $1 and number = 8', [accountId]);
    await expect(seal(null, owner, fresh)).rejects.toThrow(/^Seal 8 of account \d+ is not as it was signed/);
    await attack('delete from activity_seal where account_id = $1 and number = 8', [accountId]);
    await expect(seal(null, owner, fresh)).rejects.toThrow(/^Seal 7 of account \d+ is not as it was signed/);
  });
});

describe('retention', () => {
  const cut = async () => {
    let entries = 0;
    for await (const gone of pruneEntries(owner)) entries += gone;
    return entries;
  };

  test('leaves a log that can be verified from its first entry on, and keeps every seal', async () => {
    expect(await cut()).toBe(0);
    expect(await seal(4)).toBe(1);
    expect(await verify()).toMatchObject({ verified: true, first_id: 1, cut_to: 180 });
    expect(await cut()).toBe(180);
    expect(await verify()).toMatchObject({
      verified: true,
      first_id: 181,
      last_id: 300,
      cut_to: 180,
      seals: 11,
    });
    expect(await verify(file)).toMatchObject({ verified: true, first_id: 181 });
    const { rows } = await attack('select count(*) from activity_leaves where account_id = $1', [accountId]);
    expect(rows).toEqual([{ count: 4 }]);
    // Entries that it was not allowed to delete, and entries that come back.
    await attack('delete from activity where account_id = $1 and id <= 185', [accountId]);
    expect(await verify()).toMatchObject({ verified: false, first_bad_id: 181, how: 'deleted' });
  });

  test('can be verified between its steps', async () => {
    await seal(4);
    await attack('delete from activity where account_id = $1 and id <= 100', [accountId]);
    expect(await verify()).toMatchObject({ verified: true, first_id: 101 });
    await attack('delete from activity where account_id = $1 and id = 130', [accountId]);
    expect(await verify()).toMatchObject({ verified: false, first_bad_id: 130, how: 'deleted' });
  });

  test('ignores an entry’s age if it is not the sealed one', async () => {
    await attack(`update activity set occurred_at = occurred_at - interval '1 year'`);
    await seal(20);
    expect(await cut()).toBe(0);
    expect(await verify()).toMatchObject({ verified: false, first_bad_id: 1, how: 'edited' });
  });

  test('detects a pruned entry that was put back', async () => {
    await seal(4);
    await cut();
    await attack(
      `insert into activity (account_id, id, occurred_at, action_type, page_path) values ($1, 33, now(), 'x', '/x')`,
      [accountId],
    );
    expect(await verify()).toMatchObject({ verified: false, first_bad_id: 33, how: 'inserted' });
  });
});

describe('sealing', () => {
  test('by two processes at once makes each seal once', async () => {
    const account = await writeLog(store, { ...LOG, length: 9_000 });
    const other = openPool(store.address, 'owner', { max: 1 });
    const made = await Promise.all([seal(null, owner), seal(null, other)]);
    await other.end();
    expect(made[0] + made[1]).toBe(10);
    expect(await verify(null, account)).toMatchObject({ verified: true, last_id: 9_000, seals: 10 });
  });

  test('does not wait for requests, nor requests for it', async () => {
    const request = await store.superuser('store');
    await request.query('begin');
    await request.query('select from activity_head where account_id = $1 for update', [accountId]);
    await request.query('update activity_head set last_id = 301 where account_id = $1', [accountId]);
    await request.query(
      `insert into activity (account_id, id, occurred_at, action_type, page_path) values ($1, 301, now(), 'x', '/x')`,
      [accountId],
    );
    expect(await seal()).toBe(0);
    await request.query('commit');
    expect(await seal()).toBe(1);
    expect(await verify()).toMatchObject({ verified: true, last_id: 301, unsealed: 0 });
  });

  test('reports entries that were missing or inserted before sealing', async () => {
    const account = await writeLog(store, LOG);
    await attack('delete from activity where account_id = $1 and id = 200', [account]);
    await seal();
    expect(await verify(null, account)).toMatchObject({
      verified: false,
      first_bad_id: 200,
      how: 'deleted',
      message: `Entry 200 of account ${account} was deleted before it was sealed.`,
    });
    await attack(
      `insert into activity (account_id, id, occurred_at, action_type, page_path) values ($1, 200, now(), 'x', '/x')`,
      [account],
    );
    expect(await verify(null, account)).toMatchObject({ first_bad_id: 200, how: 'inserted' });
  });

  test.each([
    ['dbvitals_writer', 'insert into activity_seal select * from activity_seal'],
    ['dbvitals_writer', 'update activity_seal set cut_to = 1'],
    ['dbvitals_writer', 'delete from activity_seal'],
    ['dbvitals_writer', 'delete from activity_leaves'],
    ['dbvitals_writer', 'select from seal_key'],
    ['dbvitals_reader', 'insert into activity_seal select * from activity_seal'],
    ['dbvitals_reader', 'select from seal_key'],
  ])('%s may not: %s', async (role, statement) => {
    const client = await store.superuser('store');
    await client.query(`set role ${role}`);
    await expect(client.query(statement)).rejects.toThrow(/permission denied/);
  });
});

describe('the seal file', () => {
  test('continues after an incomplete line and after another process, and starts again when it was moved away', async () => {
    const lines = () => readFileSync(file, 'utf8').split('\n').map(parseSealLine).filter(Boolean).length;
    const [first, second] = [openSealFile(file), openSealFile(file)];
    await first.append(owner);
    await second.append(owner);
    expect(lines()).toBe(10);
    appendFileSync(file, '{"seal":{"format":"dbvitals-seal-1","acc');
    const account = await writeLog(store, LOG);
    await seal();
    await first.append(owner);
    await second.append(owner);
    await first.append(owner);
    expect(lines()).toBe(20);
    expect(await verify(file, account)).toMatchObject({ verified: true, last_id: 300 });
    rmSync(file);
    await second.append(owner);
    expect(lines()).toBe(20);
  });

  test('with a line removed or changed still detects what the store alone detects', async () => {
    const text = readFileSync(file, 'utf8').split('\n');
    writeFileSync(file, text.toSpliced(3, 1).join('\n'));
    expect(await verify(file)).toMatchObject({ verified: true });
    writeFileSync(
      file,
      text.map((line, at) => (at === 3 ? line.replace('"last_id":120', '"last_id":119') : line)).join('\n'),
    );
    expect(await verify(file)).toMatchObject({ verified: false, first_bad_id: 91, how: 'seal forged' });
  });
});
