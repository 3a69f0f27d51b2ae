import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { parsePoolerUrl } from '../../src/config/store-url.ts';
import { openPool } from '../../src/store/connect.ts';
import { readOnce } from '../../src/store/exchange/read-once.ts';
import type { Read } from '../../src/store/read.ts';
import { makeAccount } from '../contract/account.ts';
import { each } from '../contract/ask.ts';
import { temporaryFolder } from '../contract/running-service.ts';
import { type Bouncer, startBouncer } from './bouncer.ts';

const environment = inject('sharedStore');
const folder = temporaryFolder();
const ended: (() => Promise<unknown>)[] = [];
const accounts: number[] = [];

beforeAll(async () => {
  for (let n = 0; n < 2; n += 1) accounts.push((await makeAccount()).id);
});

afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});
afterAll(() => folder.remove());

let started = 0;

/** A PgBouncer with three connections per role, and readers that share them: more than it has, so that they change places. */
async function start(program: 'installed' | 'trixie', settings: string, port?: number) {
  const socketFolder = decodeURIComponent(new URL(environment['DATABASE_URL'] ?? '').hostname);
  started += 1;
  const bouncer = await startBouncer(
    socketFolder,
    join(folder.path, `pgbouncer-${started}`),
    (documented) =>
      `${documented.replace(/^default_pool_size = .*$/m, 'default_pool_size = 3')}${settings}\n`,
    { program, ...(port === undefined ? {} : { port }) },
  );
  ended.push(() => bouncer.stop());
  return bouncer;
}

function openReader({ port }: Bouncer): pg.Pool {
  const url = environment['DBVITALS_POOLER_URL']?.replace(/:\d+\/dbvitals$/, `:${port}/dbvitals`) ?? '';
  const reader = openPool(parsePoolerUrl(url), 'reader', { max: 8, pipeline: true });
  ended.push(() => reader.end());
  return reader;
}

// Several statements, as the endpoints have. None names the account: only row-level security selects.
const statements = [1, 2, 3, 4].map((n) => `select account_id, ${n} as n from activity_head`);

/** Reads as two accounts in turns, eight at a time. Throws if a read fails or shows the other account. */
async function readInTurns(reader: pg.Pool, count = 240): Promise<void> {
  const turns = Array.from({ length: count }, (_, turn) => turn);
  await each(turns, 8, async (turn) => {
    const own = accounts[turn % 2] ?? 0;
    const n = turn % statements.length;
    const heads = (read: Read) => read<{ account_id: number }>(statements[n] ?? '', []);
    const { result } = await readOnce(reader, own, heads, turn % 3 === 0);
    expect(result).toEqual([{ account_id: own, n: n + 1 }]);
  });
}

/** How many statements the server connections have prepared. */
async function preparedBy(reader: pg.Pool): Promise<number> {
  const counts = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const { rows } = await reader.query(
        `select count(*)::int as n from pg_prepared_statements where statement like '%from activity_head'`,
      );
      return Number(rows[0]?.n);
    }),
  );
  return Math.max(...counts);
}

test.each([
  ['installed', ''],
  ['installed', 'server_lifetime = 1'],
  ['trixie', ''],
  ['trixie', 'server_lifetime = 1'],
  ['trixie', 'max_prepared_statements = 0'],
  ['trixie', 'max_prepared_statements = 1'],
] as const)(
  'statements are prepared once, and read for their account: PgBouncer %s, %s',
  async (program, settings) => {
    const reader = openReader(await start(program, settings));
    for (let round = 0; round < 4; round += 1) {
      await readInTurns(reader);
      if (settings.includes('lifetime')) await new Promise((resolve) => setTimeout(resolve, 700));
    }
    if (settings === '') expect(await preparedBy(reader)).toBe(statements.length);
  },
);

test('a pooler that drops statements after each transaction costs no read', async () => {
  const drop = 'server_reset_query = deallocate all\nserver_reset_query_always = 1';
  const reader = openReader(await start('installed', drop));
  await readInTurns(reader, 1_000);
  expect(await preparedBy(reader)).toBe(0);
});

test('a pooler that is told to keep statements, and told not to, loses no read', async () => {
  const bouncer = await start('trixie', 'max_prepared_statements = 200');
  const reader = openReader(bouncer);
  await readInTurns(reader);
  for (const most of [0, 200, 0, 200]) {
    const kept = `max_prepared_statements = ${most}`;
    await Promise.all([
      readInTurns(reader, 1_000),
      bouncer.reload((before) => before.replace(/max_prepared_statements = \d+/, kept)),
    ]);
    await readInTurns(reader);
  }
});

test('a statement that fails leaves the others prepared and right, through any pooler', async () => {
  for (const program of ['installed', 'trixie'] as const) {
    const reader = openReader(await start(program, ''));
    const fail = (read: Read) => read('select 1 / (account_id - account_id) from account', []);
    for (let round = 0; round < 20; round += 1) {
      const own = accounts[round % 2] ?? 0;
      await Promise.all([
        expect(readOnce(reader, own, fail)).rejects.toThrow('division by zero'),
        expect(readOnce(reader, own, (read) => read('select nonsense', []))).rejects.toThrow('nonsense'),
        readInTurns(reader, 16),
      ]);
    }
  }
});

test('a pooler that is replaced by an older one, and by a newer one, is read from again at once', async () => {
  let bouncer = await start('trixie', '');
  const reader = openReader(bouncer);
  for (const program of ['installed', 'trixie', 'installed'] as const) {
    await readInTurns(reader);
    const reading = readInTurns(reader, 2_000).then(
      () => 'whole',
      (error: Error) => error.name,
    );
    ended.pop();
    await bouncer.stop();
    ended.pop();
    bouncer = await start(program, '', bouncer.port);
    // A lost connection fails its read. None shows the other account.
    expect(await reading).not.toBe('AssertionError');
    await readInTurns(reader);
  }
});
