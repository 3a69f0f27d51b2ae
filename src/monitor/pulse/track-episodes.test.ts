import { expect, test } from 'vitest';
import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import type { PulseReading } from './reading/pulse-reading.ts';
import { type Episodes, trackEpisodes } from './track-episodes.ts';

/** So many sessions have waited for session 1, which began at `started`, for `seconds`. */
function blocked(sessions: number, seconds: number, started = 5): PulseReading {
  const session = (pid: number, role: string) => ({
    pid,
    started,
    database: 'shop',
    role,
    application: 'psql',
    state: 'active',
    seconds,
  });
  const pids = Array.from({ length: sessions }, (_, n) => n + 2);
  return {
    started: 1,
    isStandby: false,
    isReplicating: null,
    connections: { used: 1, allowed: 100 },
    room: null,
    lockWaitTimeout: null,
    active: 1,
    idleInTransaction: 1,
    load: [],
    transactions: null,
    replicaLag: null,
    deadlocks: null,
    oldestTransaction: null,
    waits: pids.map((pid) => ({ pid, blockers: [1], seconds, lock: 'transactionid', relation: null })),
    shortWaits: 0,
    clientsWaiting: null,
    sessions: [session(1, 'bob'), ...pids.map((pid) => session(pid, 'shop'))],
  };
}

/** Readings at seconds; returns what was stored after each. */
function track(readings: readonly [number, PulseReading][]): BlockingEpisode[][] {
  let episodes: Episodes = new Map();
  return readings.map(([second, reading]) => {
    const tracked = trackEpisodes(episodes, reading, new Date(second * 1_000));
    ({ episodes } = tracked);
    return tracked.stored;
  });
}

test('an episode is stored when it begins, when it grows, now and then, and when it ends', () => {
  const stored = track([
    [100, blocked(0, 0)],
    [110, blocked(1, 4)],
    [111, blocked(1, 5)],
    [112, blocked(3, 6)],
    [140, blocked(2, 34)],
    [150, blocked(2, 44)],
    [151, blocked(0, 0)],
    [152, blocked(0, 0)],
  ]);
  expect(stored.map((each) => each.length)).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
  const [episode] = stored[7] ?? [];
  expect(episode).toMatchObject({
    began_at: new Date(106_000),
    ended_at: new Date(151_000),
    root: '1/5',
    role: 'bob',
    database: 'shop',
    application: 'psql',
    most_sessions: 3,
    longest_seconds: 44,
    lost_seconds: 4 + 1 + 3 + 2 * 28 + 2 * 10,
  });
  expect(episode?.trees.map(({ sessions, root }) => [sessions, root?.role])).toEqual([
    [1, 'bob'],
    [3, 'bob'],
  ]);
});

test('an ordinary wait is no episode, and a pid that is used again is another one', () => {
  const stored = track([
    [100, blocked(1, 1.5)],
    [101, blocked(1, 2.5)],
    [102, blocked(1, 3, 77)],
    [103, blocked(1, 4, 77)],
  ]);
  expect(stored.map((each) => each.map(({ root, ended_at }) => [root, ended_at]))).toEqual([
    [],
    [['1/5', null]],
    [['1/77', null]],
    [['1/5', new Date(102_000)]],
  ]);
});

test('one reading without it does not end an episode', () => {
  const stored = track([
    [100, blocked(1, 4)],
    [101, blocked(0, 0)],
    [102, blocked(1, 6)],
    [103, blocked(0, 0)],
    [104, blocked(0, 0)],
  ]);
  expect(stored.map((each) => each.map(({ began_at, ended_at }) => [began_at, ended_at]))).toEqual([
    [[new Date(96_000), null]],
    [],
    [],
    [],
    [[new Date(96_000), new Date(103_000)]],
  ]);
});

/** Each of so many roots has blocked one session; the first for three seconds, the next for one more. */
function manyRoots(roots: number): PulseReading {
  const waits = Array.from({ length: roots }, (_, n) => ({
    pid: 1_000 + n,
    blockers: [5_000 + n],
    seconds: n + 3,
    lock: 'row',
    relation: null,
  }));
  return { ...blocked(0, 0), waits };
}

test('20 chains at once are 20 episodes, which a root that comes later does not end', () => {
  const stored = track([
    [100, manyRoots(20)],
    [101, manyRoots(20)],
    [102, manyRoots(21)],
    [103, manyRoots(21)],
  ]);
  expect(stored.map((each) => each.length)).toEqual([10, 10, 1, 0]);
  expect(new Set(stored.flat().map(({ root }) => root)).size).toBe(21);
  expect(stored.flat().every(({ ended_at }) => ended_at === null)).toBe(true);
});

test('a server that invents hundreds of roots makes fifty episodes at a time, and stores ten with a reading', () => {
  const stored = track(Array.from({ length: 8 }, (_, n) => [100 + n, manyRoots(200)]));
  expect(stored.map((each) => each.length)).toEqual([10, 10, 10, 10, 10, 0, 0, 0]);
  expect(stored.flat().map(({ longest_seconds }) => longest_seconds)).toContain(202);
});

test('at most 20 trees of 8 KiB are kept, the peak among them', () => {
  const stored = track(Array.from({ length: 60 }, (_, n) => [n, blocked(n + 1, 5)]));
  const trees = stored.at(-1)?.[0]?.trees ?? [];
  expect(trees).toHaveLength(20);
  expect(trees.at(-1)?.sessions).toBe(60);
  for (const tree of trees) expect(JSON.stringify(tree).length).toBeLessThanOrEqual(8 * 1024);
});
