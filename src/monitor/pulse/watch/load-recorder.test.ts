import { expect, test } from 'vitest';
import type { LoadGroup, PulseReading } from '../reading/pulse-reading.ts';
import { LoadRecorder } from './load-recorder.ts';

const group = (more: Partial<LoadGroup> = {}): LoadGroup => ({
  state: 'active',
  wait: 'IO',
  event: 'DataFileRead',
  query: '1',
  role: 'app',
  application: 'shop',
  database: 'shop',
  count: 1,
  seconds: 3,
  ...more,
});

function reading(load: LoadGroup[], more: Partial<PulseReading> = {}): PulseReading {
  return {
    started: 1,
    isStandby: false,
    isReplicating: null,
    connections: { used: 1, allowed: 100 },
    room: null,
    lockWaitTimeout: null,
    active: load.reduce((sum, { count }) => sum + count, 0),
    idleInTransaction: 0,
    load,
    transactions: null,
    replicaLag: null,
    deadlocks: null,
    oldestTransaction: null,
    waits: [],
    shortWaits: 0,
    clientsWaiting: null,
    sessions: [],
    ...more,
  };
}

const START = Date.parse('2026-11-27T10:00:00Z');
const seconds = (count: number) => START + count * 1_000;

test('a minute has the averages over its time, however close the pulses are', () => {
  const recorder = new LoadRecorder();
  recorder.add(reading([]), seconds(-10));
  // Ten seconds without load, then a close look at 40 sessions for five seconds.
  recorder.add(reading([]), seconds(0));
  for (let n = 1; n <= 5; n++)
    recorder.add(reading([group({ count: 40 }), group({ query: '2' })]), seconds(n));
  recorder.add(reading([group({ count: 1 })]), seconds(10));
  const minute = recorder.add(reading([]), seconds(60));
  expect(minute).toMatchObject({ at: new Date(START), replica_lag: null, commits: null });
  expect(minute?.active).toBeCloseTo((5 * 41 + 5) / 20);
  expect(minute?.sources.map(({ source }) => source.query)).toEqual(['1', '2']);
  expect(minute?.sources[0]?.sessions).toBeCloseTo((5 * 40 + 5) / 20);
});

test('the minute in which the recording ends is kept if most of it was seen', () => {
  const recorder = new LoadRecorder();
  expect(recorder.end()).toBeNull();
  recorder.add(reading([group()]), seconds(0));
  for (let n = 1; n <= 5; n++) recorder.add(reading([group()]), seconds(10 * n));
  expect(recorder.end()).toMatchObject({ at: new Date(START), active: 1 });
  expect(recorder.end()).toBeNull();
  recorder.add(reading([group()]), seconds(60));
  recorder.add(reading([group()]), seconds(70));
  expect(recorder.end()).toBeNull(); // the rest is another monitor's
});

test('a minute has the worst of waits and lag, and rates that a restart does not make negative', () => {
  const recorder = new LoadRecorder();
  const transactions = (commits: number) => ({ transactions: { commits, rollbacks: 0 } });
  const wait = { pid: 2, blockers: [1], seconds: 7, lock: 'tuple', relation: null };
  recorder.add(reading([], transactions(100)), seconds(-10));
  recorder.add(reading([], { ...transactions(300), waits: [wait], replicaLag: 4 }), seconds(0));
  recorder.add(reading([], { ...transactions(500), replicaLag: 1 }), seconds(10));
  expect(recorder.add(reading([], transactions(5)), seconds(60))).toMatchObject({
    blocked_sessions: 1,
    blocked_seconds: 7,
    replica_lag: 4,
    commits: 20,
    rollbacks: 0,
  });
  expect(recorder.add(reading([], transactions(6)), seconds(120))).toMatchObject({ commits: null });
});

test('a hostile server has at most 40 sources a minute, and no number that a row can not have', () => {
  const recorder = new LoadRecorder();
  for (let n = 0; n < 60; n++)
    recorder.add(
      reading(
        Array.from({ length: 150 }, (_, m) => group({ role: `${n}/${m}` })),
        { active: 9e15, idleInTransaction: -5 },
      ),
      seconds(n),
    );
  const minute = recorder.add(reading([]), seconds(60));
  expect(minute?.sources).toHaveLength(40);
  expect(minute).toMatchObject({ active: 1e9, idle_in_transaction: 0 });
});
