import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothingMeasured } from '../nothing-measured.ts';
import { ResultBuffer } from './buffer.ts';
import { toHistory, toReport } from './deliver.ts';

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
const quiet = toHistory(toReport(nothingMeasured([]), new Set()));

let folder: string;
let said: string[];
const log = { warn: note, error: note };

function note(_fields: object, message?: string): void {
  said.push(message ?? '');
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'buffer-'));
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (largest = 4 * MIB) => new ResultBuffer(folder, largest, log);
const path = () => join(folder, 'collector-buffer.db');

/** A result that hardly shrinks when it is compressed. */
function large(kib: number) {
  const text = Buffer.from(Float64Array.from({ length: kib * 128 }, Math.random).buffer).toString('base64');
  return {
    ...quiet,
    measures: [{ checkId: text, database: '', metric: 'a', object: null, value: 1 }],
  } as never;
}

test('results are kept in order over a restart, in a file that only this user can read', () => {
  const buffer = open();
  for (const at of [1, 2, 3]) expect(buffer.add('shop', Date.now() + at, quiet)).toBe(true);
  buffer.close();
  const again = open();
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  const waiting = again.next();
  expect(waiting.map(({ result }) => result.measured)).toEqual([quiet, quiet, quiet]);
  const times = waiting.map(({ result }) => result.at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  again.remove(waiting.slice(0, 2));
  expect(again.next()).toEqual(waiting.slice(2));
  expect(again.size()).toMatchObject({ results: 1 });
  again.close();
});

test('the file never exceeds its size, and the newest results stay', () => {
  const buffer = open(MIB);
  const now = Date.now();
  for (let n = 0; n < 60; n++) expect(buffer.add(`c${n}`, now + n, large(60))).toBe(true);
  expect(statSync(path()).size).toBeLessThanOrEqual(MIB);
  const { results } = buffer.size();
  expect(results).toBeGreaterThan(2);
  expect(results).toBeLessThan(60);
  const all: string[] = [];
  for (let batch = buffer.next(); batch.length > 0; batch = buffer.next()) {
    all.push(...batch.map(({ result }) => result.connection));
    buffer.remove(batch);
  }
  expect(all.at(-1)).toBe('c59');
  expect(said).toEqual([]);
  // One that never fits is lost, and nothing else.
  expect(buffer.add('huge', now, large(2_000))).toBe(false);
  expect(buffer.add('small', now, quiet)).toBe(true);
  buffer.close();
});

test('what is older than a day is forgotten', () => {
  const buffer = open();
  const now = Date.now();
  buffer.add('a', now - 24 * HOUR_MS - 1, quiet);
  buffer.add('b', now - 23 * HOUR_MS, quiet);
  buffer.add('c', now, quiet);
  expect(buffer.next().map(({ result }) => result.connection)).toEqual(['b', 'c']);
  expect(buffer.size(now).seconds).toBeCloseTo(23 * 3_600, 0);
  buffer.close();
});

test('a delivery is at most 3 MiB, and 50 results', () => {
  const buffer = open(64 * MIB);
  for (let n = 0; n < 60; n++) buffer.add('small', Date.now(), quiet);
  expect(buffer.next()).toHaveLength(50);
  buffer.remove(buffer.next());
  buffer.remove(buffer.next());
  for (let n = 0; n < 5; n++) buffer.add('large', Date.now(), large(900));
  expect(buffer.next()).toHaveLength(2);
  buffer.close();
});

test.each([
  ['no database', () => writeFileSync(path(), 'x'.repeat(9_000))],
  [
    'a torn page',
    () => {
      const bytes = readFileSync(path());
      writeFileSync(path(), Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 7)]));
    },
  ],
  ['cut off', () => truncateSync(path(), 5_000)],
])('a damaged file (%s) is set aside, and a new one takes results', (_name, damage) => {
  const before = open();
  for (let n = 0; n < 50; n++) before.add('shop', Date.now(), large(4));
  before.close();
  damage();
  const buffer = open();
  expect(said).toEqual([expect.stringContaining('was damaged')]);
  expect(buffer.add('shop', Date.now(), quiet)).toBe(true);
  expect(buffer.next()).toHaveLength(1);
  buffer.close();
});

test('a folder that can not be written costs results, not the process', () => {
  const nowhere = new ResultBuffer(join(folder, 'missing'), MIB, log);
  expect([nowhere.add('a', 1, quiet), nowhere.add('a', 2, quiet)]).toEqual([false, false]);
  expect([nowhere.next(), nowhere.plans(), nowhere.size().results]).toEqual([[], [], 0]);
  expect(said).toHaveLength(1);
});

test('a result whose content was damaged is dropped, and the others are delivered', () => {
  const buffer = open();
  for (const name of ['first', 'damaged', 'last']) expect(buffer.add(name, Date.now(), quiet)).toBe(true);
  buffer.close();
  const database = new DatabaseSync(path());
  database.exec(`update result set report = x'1f8b0800' where connection = 'damaged'`);
  database.close();
  const again = open();
  expect(again.next().map(({ result }) => result.connection)).toEqual(['first', 'last']);
  expect(again.size()).toMatchObject({ results: 2 });
  expect(said).toEqual(['a kept health check was damaged, and is dropped']);
  again.close();
});
