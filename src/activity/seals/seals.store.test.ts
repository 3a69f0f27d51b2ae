import { generateKeyPairSync, hash } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/store.ts';
import { writeLog } from '../../../test/write-log.ts';
import { inTransaction, openPool } from '../../database/connect.ts';
import { within } from '../../database/read.ts';
import { pruneEntries } from '../prune-entries.ts';
import { type CanonicalEntry, entriesBetween, leafOf } from './canonical-entry.ts';
import { sealEntries } from './record-seals.ts';
import { rawPublicKey, type SealRow, sealColumns, sealHash, sealOf, signSeal } from './seal.ts';
import { openSealFile } from './seal-file.ts';
import { openSealKeys } from './seal-key.ts';
import { parseSealLine } from './seal-line.ts';
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

async function seal(activityDays: number | null = null, pool = owner): Promise<number> {
  let seals = 0;
  for await (const _ of sealEntries({ owner: pool, secret: store.deps.secret, activityDays })) seals += 1;
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

/** Swaps the contents of two positions. */
const swap = (one: number, other: number) =>
  attack(
    `update activity set id = -id where account_id = ${accountId} and id in (${one}, ${other});
     update activity set id = case id when -${one} then ${other} else ${one} end
      where account_id = ${accountId} and id in (-${one}, -${other})`,
  );

/** Moves the entries from `first` on by `by` positions. */
const shift = (first: number, by: number) =>
  attack(
    `update activity set id = -id where account_id = ${accountId} and id >= ${first};
     update activity set id = -id + ${by} where account_id = ${accountId} and id < 0`,
  );

/** Makes every seal from `number` on again from the store's entries, with an attacker's key. */
async function forge(number: number, ownKeyInstead = false): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const { rows } = await attack(
    `select ${sealColumns} from activity_seal s where account_id = $1 order by number`,
    [accountId],
  );
  let previous: string | null = null;
  for (const row of rows as SealRow[]) {
    const { seal: signed } = sealOf(row);
    if (row.number >= number) {
      const entries = await attack(entriesBetween, [accountId, row.first_id, row.last_id]);
      const leaves = Buffer.concat((entries.rows as CanonicalEntry[]).map(leafOf));
      signed.leaves_sha256 = hash('sha256', leaves);
      if (previous !== null) signed.previous = previous;
      if (!ownKeyInstead) signed.public_key = rawPublicKey(privateKey);
      const { signature } = signSeal(signed, privateKey);
      await attack(
        `update activity_seal set leaves_sha256 = decode($3, 'hex'), previous = decode($4, 'hex'),
                public_key = decode($5, 'hex'), signature = decode($6, 'hex') where account_id = $1 and number = $2`,
        [accountId, row.number, signed.leaves_sha256, signed.previous, signed.public_key, signature],
      );
      await attack('update activity_leaves set leaves = $3 where account_id = $1 and last_id = $2', [
        ...[accountId, row.last_id, leaves],
      ]);
    }
    previous = sealHash(signed);
  }
}

test('an unchanged log is verified, and its unsealed entries are counted', async () => {
  expect(await verify()).toMatchObject({ verified: true, first_id: 1, last_id: 300, seals: 10, unsealed: 0 });
  expect(await verify(file)).toMatchObject({ verified: true, last_id: 300 });
  expect(await seal()).toBe(0);
  await attack('update activity_head set last_id = 305');
  expect(await verify()).toMatchObject({ verified: true, last_id: 300, unsealed: 5 });
});

describe('verification detects changes by the database owner', () => {
  const at = (id: number) => `where account_id = ${'ACCOUNT'} and id = ${id}`;
  const run = (statement: string) => attack(statement.replaceAll('ACCOUNT', String(accountId)));
  const cases: [string, () => Promise<unknown>, number, string][] = [
    ['a path is changed', () => run(`update activity set page_path = '/x' ${at(47)}`), 47, 'edited'],
    ['a status appears', () => run(`update activity set status = 200 ${at(61)}`), 61, 'edited'],
    [
      'a microsecond is added',
      () => run(`update activity set occurred_at = occurred_at + interval '1 microsecond' ${at(90)}`),
      90,
      'edited',
    ],
    ['an event is renumbered', () => run(`update activity set event_number = 999 ${at(100)}`), 100, 'edited'],
    [
      'a property is added',
      () => run(`update activity set properties = '{"score": 1}' ${at(10)}`),
      10,
      'edited',
    ],
    ['the first is deleted', () => run(`delete from activity ${at(1)}`), 1, 'deleted'],
    ['one is deleted', () => run(`delete from activity ${at(150)}`), 150, 'deleted'],
    ['the last is deleted', () => run(`delete from activity ${at(300)}`), 300, 'deleted'],
    [
      'one is deleted and the others close up',
      () => run(`delete from activity ${at(120)}`).then(() => shift(121, -1)),
      120,
      'deleted',
    ],
    [
      'one is put in and the others make room',
      () =>
        shift(210, 1).then(() =>
          run(
            `insert into activity (account_id, id, occurred_at, action_type, page_path) select account_id, 210, occurred_at, 'api_request', '/x' from activity ${at(209)}`,
          ),
        ),
      210,
      'inserted',
    ],
    [
      'one is put before the first',
      () =>
        run(
          `insert into activity (account_id, id, occurred_at, action_type, page_path) values (ACCOUNT, -3, now(), 'api_request', '/x')`,
        ),
      -3,
      'inserted',
    ],
    ['two are swapped', () => swap(17, 18), 17, 'reordered'],
    ['two are swapped over seals', () => swap(29, 281), 29, 'reordered'],
    [
      'the log is emptied, as if retention had cut it',
      () =>
        run(
          `delete from activity where account_id = ACCOUNT; insert into activity_floor values (ACCOUNT, 301, 30)`,
        ),
      1,
      'deleted',
    ],
    [
      'a cut is made up',
      () =>
        run(
          `delete from activity where account_id = ACCOUNT and id <= 60; update activity_seal set cut_to = 60 where account_id = ACCOUNT and number = 10`,
        ),
      1,
      'deleted',
    ],
    [
      'a seal is changed',
      () =>
        run(
          `update activity_seal set sealed_at = sealed_at + interval '1 s' where account_id = ACCOUNT and number = 4`,
        ),
      91,
      'seal forged',
    ],
    [
      'the hashes of a seal are changed',
      () =>
        run(`update activity_leaves set leaves = sha256('x') where account_id = ACCOUNT and last_id = 90`),
      61,
      'seal forged',
    ],
    [
      'a seal is taken out',
      () => run(`delete from activity_seal where account_id = ACCOUNT and number = 3`),
      61,
      'seal missing',
    ],
    [
      'the first seal is taken out',
      () => run(`delete from activity_seal where account_id = ACCOUNT and number = 1`),
      1,
      'seal missing',
    ],
    [
      'an entry is changed and sealed with another key',
      () => run(`update activity set page_path = '/x' ${at(47)}`).then(() => forge(2)),
      31,
      'seal forged',
    ],
    [
      'an entry is changed and the chain made anew, signed in the name of our key',
      () => run(`update activity set page_path = '/x' ${at(47)}`).then(() => forge(2, true)),
      31,
      'seal forged',
    ],
    [
      'the key is exchanged too',
      () =>
        forge(1).then(() =>
          run(
            `update seal_key set public_key = (select public_key from activity_seal where account_id = ACCOUNT limit 1)`,
          ),
        ),
      1,
      'seal forged',
    ],
  ];
  test.each(cases)('%s', async (_name, tamper, first_bad_id, how) => {
    await tamper();
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
      ...{ verified: false, first_bad_id: 200, how: 'deleted' },
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
    ['dbvitals_reader', 'select from activity_seal'],
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
