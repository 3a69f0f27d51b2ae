import { expect, test } from 'vitest';
import { ChangeReader } from '../../monitor/read-changes.ts';
import { targetAt } from '../../monitor/session/mysql-session-fixture.ts';
import type { FactInstructions, KnownReading } from './facts.ts';

type Rows = Record<string, unknown>[];

/** What is read of a PostgreSQL that answers every statement with these rows. */
async function readAll(
  rows: Rows,
  given: Partial<FactInstructions> = {},
  databases = 0,
): Promise<ChangeReader> {
  const facts = { key: Buffer.alloc(32).toString('base64'), known: [], started: null, ...given };
  const reader = new ChangeReader({ ...targetAt(1), engine: 'postgres' }, facts, () => false);
  const session = { tls: null, read: async () => rows, close: async () => {} };
  await reader.readServer(session, { version: 180_000 }, { host: 'db', port: 1 });
  for (let n = 0; n < databases; n++) await reader.readDatabase(session, `shop ${n}`);
  return reader;
}

const setting = (name: unknown, value: unknown) => ({
  name,
  value,
  unit: null,
  source: 'x',
  file: null,
  role: null,
  database: null,
});

test('a million settings, or a value of 10 MB, stay within bounds', async () => {
  const million = Array.from({ length: 1_000_000 }, (_, n) => setting(`s${n}`, 'x'));
  for (const rows of [
    million,
    [setting('big', 'pass'.repeat(2_500_000))],
    [setting('x'.repeat(10_000_000), 'y')],
  ]) {
    const { reported } = await readAll(rows);
    expect(JSON.stringify(reported.filter(({ kind }) => kind === 'setting')).length).toBeLessThan(1_100_000);
  }
});

test('names and values are clean, and what is no text is none', async () => {
  const { reported } = await readAll([
    setting('a\u001b[2J\u0000b', '\u202egpj\ud800'),
    setting({}, ['x']),
    setting(null, Number.NaN),
  ]);
  const facts = reported.find(({ kind }) => kind === 'setting')?.stored?.facts ?? [];
  expect(facts.map(([, subject, value]) => [subject, value])).toEqual([
    ['', ''],
    ['', 'NaN'],
    ['a [2J b', 'gpj\ufffd'],
  ]);
});

test('a thousand databases give at most 300 readings of extensions and 100 of schemas', async () => {
  const list = [[{}, 1], ['table', 'a', 'b', null], 'x', ['function', 'f', 'body']];
  const rows = [{ name: 'x', value: '1', tables: 1, facts: 1, bytes: 1, list }];
  const { reported } = await readAll(rows, {}, 1_000);
  const count = (wanted: string) => reported.filter(({ kind }) => kind === wanted).length;
  expect([count('extension'), count('schema')]).toEqual([300, 100]);
  expect(reported.find(({ kind }) => kind === 'schema')?.stored?.facts).toEqual([['table', 'a', 'b', {}]]);
});

test('a server whose databases have new names in every run does not fill the store', async () => {
  const known = Array.from(
    { length: 1_000 },
    (_, n): KnownReading => ({ kind: 'extension', database: `old ${n}`, digest: '', age: 60 }),
  );
  const { reported } = await readAll([{ name: 'x', value: '1' }], { known }, 10);
  expect(reported).toEqual([]);
});

test('without instructions nothing is asked', async () => {
  const reader = new ChangeReader(targetAt(1), null, () => false);
  const read = () => Promise.reject(new Error('asked'));
  await reader.readServer(
    { tls: null, read, close: async () => {} },
    { version: 80_000 },
    { host: 'db', port: 1 },
  );
  expect(reader.reported).toEqual([]);
});

test('after the end of a run nothing is read, and no schema counts as skipped', async () => {
  const facts = { key: Buffer.alloc(32).toString('base64'), known: [], started: null };
  let hasEnded = false;
  let asked = 0;
  const read = async () => {
    asked += 1;
    return [{ name: 'work_mem', value: '4MB' }];
  };
  const session = { tls: null, read, close: async () => {} };
  const reader = new ChangeReader({ ...targetAt(1), engine: 'postgres' }, facts, () => hasEnded);
  await reader.readServer(session, { version: 180_000 }, { host: 'db', port: 1 });
  const [before, reported] = [asked, reader.reported.length];
  expect(before).toBeGreaterThan(0);
  hasEnded = true;
  await reader.readDatabase(session, 'shop');
  expect([asked, reader.reported.length]).toEqual([before, reported]);
});
