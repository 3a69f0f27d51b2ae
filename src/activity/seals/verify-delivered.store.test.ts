import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { writeLog } from '../../../test/support/write-log.ts';
import { openPool } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { type CanonicalEntry, entriesBetween, entryText } from '../canonical-entry.ts';
import { sealEntries } from './record-seals.ts';
import { openSealFile } from './seal-file.ts';
import { parseSealLine, sealLine } from './seal-line.ts';
import { type DeliveredLog, verifyDelivered } from './verify-delivered.ts';
import { fileSeals } from './verify-store.ts';

let store: TestStore;
let accountId: number;
/** The texts of the entries 1 to 300, which ten seals cover, and those of another account. */
let texts: string[];
let foreign: string[];
let seals: string;
let directory: string;
let kept: string;

beforeAll(async () => {
  store = await startTestStore();
  kept = mkdtempSync(join(tmpdir(), 'dbvitals-kept-'));
  seals = join(kept, 'seals.ndjson');
  accountId = await writeLog(store, { length: 300, rare: 'event', days: 10 });
  const other = await writeLog(store, { length: 60, rare: 'event', days: 10 });
  const owner = openPool(store.address, 'owner', { max: 2 });
  for await (const _ of sealEntries({ owner, secret: store.deps.secret, activityDays: null }));
  await openSealFile(seals).append(owner);
  await owner.end();
  [texts, foreign] = await Promise.all([textsOf(accountId), textsOf(other)]);
});

afterAll(async () => {
  rmSync(kept, { recursive: true });
  await store.stop();
});

// Six batches of 50 entries each.
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dbvitals-batches-'));
  for (let n = 0; n < 6; n += 1) put(`batch-${n}.ndjson`, lines(n * 50 + 1, n * 50 + 50));
});

afterEach(() => rmSync(directory, { recursive: true }));

async function textsOf(account: number): Promise<string[]> {
  const rows = await within(store.writer)<CanonicalEntry>(entriesBetween, [account, 1, 300]);
  return rows.map(entryText);
}

const put = (name: string, content: string | Buffer) => writeFileSync(join(directory, name), content);
const remove = (name: string) => rmSync(join(directory, name));
const text = (id: number) => texts[id - 1] ?? '';
const lines = (first: number, last: number) =>
  texts
    .slice(first - 1, last)
    .map((line) => `${line}\n`)
    .join('');
const array = (first: number, last: number) => `[${texts.slice(first - 1, last).join(', \n')}]`;

function verify(
  log: Partial<DeliveredLog> = {},
  file = seals,
  trusts: (key: string) => boolean = () => true,
) {
  return verifyDelivered(
    { directory, accountId: null, fromId: null, toId: null, ...log },
    async (account) => ({
      seals: fileSeals(file, account),
      trusts,
    }),
  );
}

test('batches are complete: by line, in arrays, compressed, in folders, several in a file, in any order of files', async () => {
  const whole = { verified: true, account_id: accountId, first_id: 1, last_id: 300, seals: 10, unsealed: 0 };
  expect(await verify()).toMatchObject({ ...whole, files: 6, doubled: 0, misplaced: [] });
  for (let n = 0; n < 6; n += 1) remove(`batch-${n}.ndjson`);
  put('z.json', array(1, 50));
  put('y.json.gz', gzipSync(array(51, 90)));
  put('x', `\ufeff${lines(91, 100)}\n\n${array(101, 150)}`);
  mkdirSync(join(directory, '2026/11'), { recursive: true });
  put('2026/11/w.gz', Buffer.concat([gzipSync(lines(151, 160)), gzipSync(lines(161, 200))]));
  const turned = texts
    .slice(200)
    .map((line) =>
      JSON.stringify(JSON.parse(line), Object.keys(JSON.parse(line)).toReversed().concat('score'), 1),
    );
  put('a.json', `[${turned.join(',')}]`);
  put('.hidden', 'no JSON');
  expect(await verify()).toMatchObject({ ...whole, files: 5, doubled: 0, misplaced: [] });
});

test("entries are read in Splunk's envelope: what its collector gets, and what a search exports", async () => {
  const envelope = (id: number) => `{"time":1.000,"sourcetype":"dbvitals:activity","event":${text(id)}}\n`;
  const exported = (id: number) => `${JSON.stringify({ preview: false, result: { _raw: text(id) } })}\n`;
  const range = (first: number, of: (id: number) => string) =>
    Array.from({ length: 50 }, (_, n) => of(first + n)).join('');
  put('batch-0.ndjson', range(1, envelope));
  put('batch-1.ndjson', gzipSync(range(51, exported)));
  expect(await verify()).toMatchObject({ verified: true, last_id: 300, doubled: 0, misplaced: [] });
  put('batch-0.ndjson', range(1, envelope).replace('"page_path":"/api', '"page_path":"/xpi'));
  expect(await verify()).toMatchObject({ verified: false, first_bad_id: 1, how: 'edited' });
  for (const wrong of ['{"event":null}', '{"result":{"_raw":"{"}}', '{"event":{"event":{}}}']) {
    put('batch-0.ndjson', wrong);
    await expect(verify()).rejects.toThrow(/record 1, is not an entry/);
  }
});

test('objects of S3 are a directory that is read as it was downloaded', async () => {
  for (let n = 0; n < 6; n += 1) {
    const folder = join(directory, `account-${accountId}/2026/11/28/0${n}`);
    mkdirSync(folder, { recursive: true });
    remove(`batch-${n}.ndjson`);
    const [first, last] = [n * 50 + 1, n * 50 + 50];
    const name = [first, last].map((id) => String(id).padStart(16, '0')).join('-');
    writeFileSync(
      join(folder, `${name}.0a1b2c3d4e5f.9f86d081884c7d65.ndjson.gz`),
      gzipSync(lines(first, last)),
    );
  }
  mkdirSync(join(directory, '.test'));
  put('.test/evt_1.ndjson.gz', gzipSync('{"event":"test"}\n'));
  expect(await verify()).toMatchObject({ verified: true, files: 6, last_id: 300, misplaced: [] });
});

describe('what was tampered with is named', () => {
  test.each<[string, () => void, number, string, RegExp]>([
    [
      'a batch is deleted',
      () => remove('batch-2.ndjson'),
      101,
      'deleted',
      /^Entries 101 to 150 of account \d+ are missing: entry 100 is in batch-1\.ndjson, record 50; entry 151 is in batch-3\.ndjson, record 1\.$/,
    ],
    [
      'the last batch is deleted',
      () => remove('batch-5.ndjson'),
      251,
      'deleted',
      /^Entries 251 to 300 .* missing: entry 250 is in batch-4\.ndjson, record 50\.$/,
    ],
    [
      'an entry is deleted',
      () => put('batch-1.ndjson', lines(51, 70) + lines(72, 100)),
      71,
      'deleted',
      /^Entry 71 of account \d+ is missing: .* record 20; entry 72 is in batch-1\.ndjson, record 21\.$/,
    ],
    [
      'an entry is altered',
      () => put('batch-1.ndjson', lines(51, 100).replace('"page_path":"/api', '"page_path":"/xpi')),
      51,
      'edited',
      /^Entry 51 of account \d+ was edited: batch-1\.ndjson, record 1\.$/,
    ],
    [
      'two entries change places',
      () =>
        put(
          'batch-1.ndjson',
          lines(51, 100)
            .replace('"id":60,', '"id":0,')
            .replace('"id":61,', '"id":60,')
            .replace('"id":0,', '"id":61,'),
        ),
      60,
      'reordered',
      /^Entry 60 of account \d+ was reordered: batch-1\.ndjson, record 11\.$/,
    ],
    [
      'an entry is invented',
      () => put('batch-6.ndjson', text(300).replace('"id":300,', '"id":300000,')),
      301,
      'deleted',
      /^Entries 301 to 299999 of account \d+ are missing/,
    ],
    [
      'an entry comes again altered',
      () => put('again.ndjson', text(77).replace('/api', '/xpi')),
      77,
      'edited',
      /^Entry 77 of account \d+ was delivered twice with different contents: (?:again\.ndjson, record 1; batch-1\.ndjson, record 27|batch-1\.ndjson, record 27; again\.ndjson, record 1)\.$/,
    ],
    [
      'an entry is of another account',
      () => put('foreign.ndjson', foreign[4] ?? ''),
      5,
      'inserted',
      /^foreign\.ndjson, record 1, is entry 5 of account \d+, not of account \d+\.$/,
    ],
  ])('%s', async (_name, tamper, first_bad_id, how, message) => {
    tamper();
    expect(await verify()).toMatchObject({
      verified: false,
      first_bad_id,
      how,
      message: expect.stringMatching(message),
    });
  });

  test('a batch that came twice, as at least once allows, and records out of order', async () => {
    put('batch-2.ndjson', lines(101, 150) + lines(101, 150));
    put('late.ndjson', lines(296, 300));
    put('batch-4.ndjson', lines(201, 220) + lines(231, 250) + lines(221, 230));
    expect(await verify()).toMatchObject({
      verified: true,
      doubled: 55,
      doubled_ranges: [
        { first_id: 101, last_id: 150, file: 'batch-2.ndjson', record: 51, also_in: 'batch-2.ndjson' },
        { first_id: 296, last_id: 300, file: 'late.ndjson', record: 1, also_in: 'batch-5.ndjson' },
      ],
      misplaced: [{ id: 221, file: 'batch-4.ndjson', record: 41 }],
    });
  });

  test('the first batch, if the reader says where the stream began', async () => {
    remove('batch-0.ndjson');
    expect(await verify()).toMatchObject({ verified: true, first_id: 51, last_id: 300 });
    expect(await verify({ fromId: 1 })).toMatchObject({
      verified: false,
      first_bad_id: 1,
      message: expect.stringMatching(
        /^Entries 1 to 50 of account \d+ are missing: entry 51 is in batch-1\.ndjson/,
      ),
    });
    remove('batch-5.ndjson');
    expect(await verify({ toId: 250 })).toMatchObject({ verified: true, first_id: 51, last_id: 250 });
  });

  test('a seal by another key, one that was changed, and one that is missing', async () => {
    expect(await verify({}, seals, () => false)).toMatchObject({
      how: 'seal forged',
      first_bad_id: 1,
      file: null,
    });
    const own = readFileSync(seals, 'utf8')
      .split('\n')
      .filter((line) => parseSealLine(line)?.seal.account_id === accountId);
    const file = join(kept, 'changed.ndjson');
    writeFileSync(
      file,
      own.map((line, n) => (n === 3 ? line.replace('"cut_to":0', '"cut_to":9') : line)).join('\n'),
    );
    expect(await verify({}, file)).toMatchObject({ how: 'seal forged', first_bad_id: 91 });
    writeFileSync(file, own.toSpliced(3, 1).join('\n'));
    expect(await verify({}, file)).toMatchObject({ how: 'seal missing', first_bad_id: 91 });
    writeFileSync(file, own.slice(0, 9).join('\n'));
    expect(await verify({}, file)).toMatchObject({ verified: true, last_id: 270, unsealed: 30 });
    put('batch-5.ndjson', lines(251, 280) + lines(282, 300));
    expect(await verify({}, file)).toMatchObject({ how: 'deleted', first_bad_id: 281 });
  });

  test('seals without the hashes of entries prove them together', async () => {
    const file = join(kept, 'bare.ndjson');
    const bare = readFileSync(seals, 'utf8')
      .split('\n')
      .flatMap((line) => parseSealLine(line) ?? [])
      .map((sealed) => sealLine({ ...sealed, leaves: null }));
    writeFileSync(file, bare.join(''));
    expect(await verify({}, file)).toMatchObject({ verified: true, first_id: 1, last_id: 300 });
    put('batch-1.ndjson', lines(51, 100).replace('"status":200', '"status":201'));
    expect(await verify({}, file)).toMatchObject({
      verified: false,
      first_bad_id: 31,
      message: expect.stringMatching(/^One of the entries 31 to 60/),
    });
    remove('batch-0.ndjson');
    put('batch-1.ndjson', lines(51, 100));
    expect(await verify({}, file)).toMatchObject({ verified: true, first_id: 61 });
  });
});

describe('hostile files get one sentence', () => {
  test.each<[string, () => void, RegExp]>([
    ['text', () => put('a', 'hello'), /^a is not JSON of entries/],
    [
      'a number between',
      () => put('a', `${text(1)}7`),
      /^a is not JSON of entries: see what follows record 1\.$/,
    ],
    [
      'entries in the native format',
      () => put('a', '{"id":1,"action_type":"api_request"}'),
      /^a, record 1, is not an entry/,
    ],
    [
      'an id of 1e300',
      () => put('a', text(1).replace('"id":1,', '"id":1e300,')),
      /^a, record 1, is not an entry/,
    ],
    ['broken JSON', () => put('a', `${text(1)}\n{"id":}`), /^a, record 2, is not an entry/],
    [
      'a record without end',
      () => put('a', text(1) + text(2).slice(0, 50)),
      /^a is not whole: it ends within record 2\.$/,
    ],
    [
      'an endless line',
      () => put('a', `{"id":"${'x'.repeat(3 << 20)}`),
      /^a, record 1, is longer than 1 MiB/,
    ],
    [
      'deep nesting',
      () =>
        put(
          'a',
          text(1).replace('"properties":null', `"properties":{"a":${'['.repeat(2e5)}${']'.repeat(2e5)}}`),
        ),
      /^a, record 1, is not an entry/,
    ],
    [
      'a bomb of blanks',
      () => put('a.gz', gzipSync(Buffer.alloc(64 << 20, '\n'))),
      /^a\.gz is not JSON of entries/,
    ],
    [
      'a bomb of one record',
      () => put('a.gz', gzipSync(Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(64 << 20, 'x')]))),
      /^a\.gz, record 1, is longer than 1 MiB/,
    ],
    [
      'a gzip file that ends early',
      () => put('a.gz', gzipSync(lines(1, 50)).subarray(0, 300)),
      /^a\.gz is not whole: its gzip data is damaged\.$/,
    ],
    ['a link', () => symlinkSync('/etc/passwd', join(directory, 'a')), /^a is not a plain file/],
    ['a link to a folder', () => symlinkSync('/etc', join(directory, 'a')), /^a is not a plain file/],
    ['a pipe', () => execFileSync('mkfifo', [join(directory, 'a')]), /^a is not a plain file/],
    ['a name that moves the cursor', () => put('a\u001b[2J\n', 'x'), /^a \[2J is not JSON/],
  ])('%s', async (_name, make, message) => {
    make();
    const error = await verify().catch((reason: Error) => reason.message);
    expect(error).toMatch(message);
    expect(String(error)).not.toMatch(/\n/);
  });

  test('no entries, and no seal that covers them', async () => {
    await expect(verify({ fromId: 301 })).rejects.toThrow(/^No seal covers entry 301/);
    for (let n = 0; n < 6; n += 1) remove(`batch-${n}.ndjson`);
    await expect(verify()).rejects.toThrow('The directory has no entries.');
  });

  test('an id far away and a million copies cost little memory', async () => {
    put('far.ndjson', text(300).replace('"id":300,', `"id":${Number.MAX_SAFE_INTEGER},`));
    put('copies.gz', gzipSync(`${text(9)}\n`.repeat(100_000)));
    expect(await verify()).toMatchObject({ verified: false, first_bad_id: 301, how: 'deleted' });
    expect(await verify({ toId: 300 })).toMatchObject({ verified: true, doubled: 100_000 });
  });
});
