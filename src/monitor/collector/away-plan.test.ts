import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CollectedJob } from '../collected/hand-out.ts';
import { AwayPlan } from './away-plan.ts';
import { ResultBuffer } from './buffer.ts';

let folder: string;
let buffer: ResultBuffer;
const log = { warn: () => {}, error: () => {} };
const open = () => new ResultBuffer(folder, 1024 * 1024, log);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plan-'));
  buffer = open();
});
afterEach(() => {
  buffer.close();
  rmSync(folder, { recursive: true });
});

const job = (connection: string, every: number | null): CollectedJob => ({
  run: '0199b2f4-6b5e-7c3a-9a41-2f5d0c9e7b11',
  connection,
  engine: 'postgres',
  every,
  pulse: null,
  instructions: {
    thresholds: { PG_LONG_XACT: { warning: 600 } },
    expectedStandbys: 1,
    before: [{ checkId: 'PG_DEADLOCKS', database: '', seconds: 1, rows: [] }],
    facts: { key: 'c2VjcmV0', known: [], started: null },
  },
});

test('a connection is due an interval after its last run, with its settings and without what the service compares with', () => {
  const plan = new AwayPlan(buffer);
  plan.learn(job('shop', 60));
  plan.learn(job('old', null));
  const now = Date.now();
  expect(plan.next(now + 59_000)).toBe(null);
  const due = plan.next(now + 61_000);
  expect(due).toMatchObject({
    connection: 'shop',
    instructions: { thresholds: { PG_LONG_XACT: { warning: 600 } } },
  });
  expect(due?.instructions).toMatchObject({ facts: null, before: [] });
  expect(plan.next(now + 200_000)).toBe(null); // it still runs
  plan.ended('shop');
  expect(plan.next(now + 120_000)).toBe(null);
  expect(plan.next(now + 122_000)?.connection).toBe('shop');
});

test('a run compares with the counters of the one before', () => {
  const plan = new AwayPlan(buffer);
  plan.learn(job('shop', 60));
  const began = Date.now();
  plan.measured('shop', began, [{ checkId: 'PG_DEADLOCKS', database: 'a', after: 2, rows: [{ n: 1 }] }]);
  const next = plan.next(began + 60_000);
  expect(next?.instructions.before).toEqual([
    { checkId: 'PG_DEADLOCKS', database: 'a', seconds: 58, rows: [{ n: 1 }] },
  ]);
});

test('a restarted collector knows the plan, without secrets, and forgets what the service no longer names', () => {
  const plan = new AwayPlan(buffer);
  plan.learn(job('shop', 60));
  plan.learn(job('gone', 60));
  expect(JSON.stringify(buffer.plans())).not.toContain('c2VjcmV0');
  plan.keepOnly(['shop']);
  buffer.close();
  buffer = open();
  const again = new AwayPlan(buffer);
  const now = Date.now();
  expect(again.next(now + 30_000)).toBe(null);
  expect(again.next(now + 61_000)?.connection).toBe('shop');
  expect(again.next(now + 61_000)).toBe(null);
});

test('the longest due comes first', () => {
  const plan = new AwayPlan(buffer);
  plan.learn(job('later', 300));
  plan.learn(job('sooner', 60));
  expect(plan.next(Date.now() + 600_000)?.connection).toBe('sooner');
});

test('a clock that is set back lets no connection wait, and nothing is compared over it', () => {
  const plan = new AwayPlan(buffer);
  plan.learn(job('shop', 60));
  const now = Date.now();
  plan.measured('shop', now, [{ checkId: 'PG_DEADLOCKS', database: '', after: 0, rows: [] }]);
  expect(plan.next(now - 3_600_000)?.instructions.before).toEqual([]);
  plan.ended('shop');
  expect(plan.next(now - 3_600_000 + 59_000)).toBe(null);
  expect(plan.next(now - 3_600_000 + 61_000)?.instructions.before).toMatchObject([{ seconds: 61 }]);
});
