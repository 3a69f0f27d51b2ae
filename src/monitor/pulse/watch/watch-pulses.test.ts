import { expect, test } from 'vitest';
import type { BlockingEpisode } from '../../../runs/episodes/blocking-episode.ts';
import { blockingRoots } from '../blocking-roots.ts';
import { CloseLooks } from '../close-looks.ts';
import type { PulseAnswer } from '../held-session.ts';
import { parseEvidence, witnessedChecks } from '../pulse-conditions.ts';
import { NO_OUTCOME, nextOutcome, nextPulse } from '../pulse-pace.ts';
import type { PulseReading } from '../reading/pulse-reading.ts';
import { type Episodes, seesShortWait, trackEpisodes } from '../track-episodes.ts';
import { CALM } from './reading-fixture.ts';
import { FRESH_WATCH, watchPulse } from './watch-pulses.ts';

const session = (pid: number, role: string, state: string) => ({
  pid,
  started: 5_000,
  database: 'shop',
  role,
  application: 'psql',
  state,
  seconds: 1,
});

const wait = (pid: number, blockers: number[], seconds: number) => ({
  pid,
  blockers,
  seconds,
  lock: 'transactionid',
  relation: null,
});

const blocked = (seconds: number): PulseReading => ({
  ...CALM,
  waits: [wait(2, [1], seconds), wait(3, [2], seconds / 2)],
  sessions: [
    session(1, 'bob', 'idle in transaction'),
    session(2, 'shop', 'active'),
    session(3, 'shop', 'active'),
  ],
});

const SILENT: PulseAnswer = { failure: { kind: 'unreachable', reason: 'it did not answer' } };

const thresholds = {
  blockedSeconds: { warning: 30, critical: 120 },
  connections: { warning: 0.8, critical: 0.95 },
  rules: [],
};

/** Pulses at seconds; returns what each asked a run for, and whether it began a close look. */
function watchAll(pulses: readonly [number, PulseReading | PulseAnswer][]) {
  let watch = FRESH_WATCH;
  return pulses.map(([second, seen]) => {
    const answer = 'reading' in seen || 'failure' in seen ? seen : { reading: seen };
    const at = second * 1_000;
    const step = watchPulse(watch, answer, { at, now: at }, thresholds);
    ({ watch } = step);
    return { run: step.run, isClose: step.isClose };
  });
}

const runs = (pulses: readonly [number, PulseReading | PulseAnswer][]) =>
  watchAll(pulses).map(({ run }) => run);

test('asks for a run when sessions have been blocked for the threshold, again for the second, and once when it is over', () => {
  const asked = runs([
    [0, CALM],
    [10, blocked(10)],
    [30, blocked(30)],
    [31, blocked(31)],
    [120, blocked(120)],
    [121, CALM],
    [131, CALM],
    [132, CALM],
  ]);
  expect(asked).toEqual([
    null,
    null,
    { holding: ['blocked'], cleared: [] },
    null,
    { holding: ['blocked', 'blocked_long'], cleared: [] },
    null,
    { holding: [], cleared: ['blocked', 'blocked_long'] },
    null,
  ]);
});

test('asks for at most one run a minute, and for none where it was over before', () => {
  const full = { ...CALM, connections: { used: 96, allowed: 100 } };
  const asked = runs([
    [0, blocked(40)],
    [10, { ...blocked(50), connections: full.connections }],
    [20, CALM],
    [59, CALM],
    [60, CALM],
    [70, full],
  ]);
  expect(asked).toEqual([
    { holding: ['blocked'], cleared: [] },
    null, // the connections are full, but a run was asked for 10 s ago
    { holding: [], cleared: ['blocked'] },
    null,
    null, // and are no longer: no run says so, because none said that they were
    { holding: ['connections', 'connections_full'], cleared: [] },
  ]);
});

test('a server is unreachable after two pulses, and reachable after one', () => {
  expect(
    runs([
      [0, CALM],
      [10, SILENT],
      [15, SILENT],
      [20, SILENT],
      [25, CALM],
    ]),
  ).toEqual([
    null,
    null,
    { holding: ['unreachable'], cleared: [] },
    null,
    { holding: [], cleared: ['unreachable'] },
  ]);
  expect(
    runs([
      [0, CALM],
      [10, SILENT],
      [15, CALM],
      [20, SILENT],
    ]),
  ).toEqual([null, null, null, null]);
});

test('a refused login, or an answer that can not be read, asks for no run', () => {
  const refused: PulseAnswer = { failure: { kind: 'unauthorized', reason: 'no' } };
  const unread: PulseAnswer = { failure: { kind: 'unread', reason: 'no' } };
  const noRoom: PulseAnswer = { failure: { kind: 'no_room', reason: 'no' } };
  const all = [refused, unread, noRoom].flatMap((failure): [number, PulseAnswer][] => [
    [0, failure],
    [60, failure],
  ]);
  expect(runs(all)).toEqual(all.map(() => null));
});

test('sees a restart, a new role and a replica that stopped', () => {
  const replica = { ...CALM, isStandby: true, isReplicating: true };
  const stopped = { ...replica, isReplicating: false };
  expect(
    runs([
      [0, CALM],
      [10, { ...CALM, started: 1_002 }],
      [20, { ...CALM, started: 2_000 }],
    ]),
  ).toEqual([null, null, { holding: ['restarted'], cleared: [] }]);
  expect(
    runs([
      [0, replica],
      [10, CALM],
    ])[1],
  ).toEqual({ holding: ['role_changed'], cleared: [] });
  expect(
    runs([
      [0, replica],
      [10, stopped],
      [20, stopped],
      [30, stopped],
      [40, replica],
    ]),
  ).toEqual([
    null,
    null,
    { holding: ['replica_stopped'], cleared: [] },
    null,
    { holding: [], cleared: ['replica_stopped'] },
  ]);
  expect(
    runs([
      [0, stopped],
      [10, stopped],
      [20, stopped],
    ]),
  ).toEqual([null, null, null]); // it never ran
});

test('MySQL ends waits before the threshold: half of its timeout counts', () => {
  const asked = runs([[0, { ...blocked(26), lockWaitTimeout: 50 }]]);
  expect(asked).toEqual([{ holding: ['blocked'], cleared: [] }]);
});

test('a close look lasts until 30 s have been calm', () => {
  const looks = watchAll([
    [0, CALM],
    [10, blocked(2)],
    [20, CALM],
    [39, CALM],
    [40, CALM],
    [50, SILENT],
    [51, CALM],
  ]);
  expect(looks.map(({ isClose }) => isClose)).toEqual([false, true, true, true, false, true, true]);
});

test('a root is at the end of each chain, with all behind it', () => {
  const reading = {
    ...CALM,
    waits: [
      wait(2, [1], 9),
      wait(3, [2], 5),
      wait(4, [1, 9], 2),
      wait(5, [], 1),
      wait(6, [7], 4),
      wait(7, [6], 3),
      wait(8, [7], 1),
    ],
    sessions: [session(1, 'bob', 'idle in transaction')],
  };
  expect(blockingRoots(reading).map(({ key, waits }) => [key, waits.map(({ pid }) => pid)])).toEqual([
    ['1/5000', [2, 3, 4]],
    ['6', [7, 8]], // a deadlock, and one behind it
    ['9', [4]],
    ['0', [5]], // the server does not show whom it waits for
  ]);
});

test('the next pulse follows soon after a failure, and late where logins could be locked', () => {
  const next = (kind: Parameters<typeof nextPulse>[0]['kind'], times = 0, isClose = false) =>
    nextPulse({ ...NO_OUTCOME, kind, times, isClose }, 10_000);
  expect(next('reading')).toBe(10_000);
  expect(next('reading', 0, true)).toBe(1_000);
  expect(next('unreachable', 50, true)).toBe(5_000);
  expect([0, 1, 2, 3, 50].map((times) => next('unread', times))).toEqual([
    5_000, 10_000, 20_000, 40_000, 60_000,
  ]);
  expect([0, 1, 50].map((times) => next('unread', times, true))).toEqual([1_000, 2_000, 60_000]);
  expect([0, 1, 2, 50].map((times) => next('unauthorized', times))).toEqual([
    10_000, 20_000, 40_000, 600_000,
  ]);
  expect(nextPulse({ ...NO_OUTCOME, kind: 'unreachable' }, 1_000)).toBe(1_000);
  expect(nextPulse({ ...NO_OUTCOME, kind: 'unread' }, 1_000)).toBe(1_000);
});

/** What pulses every ten seconds store in a minute; `waitsAt` tells how long sessions have waited at a second. */
function watchWaits(waitsAt: (second: number) => readonly number[], isCloseAllowed: boolean) {
  let watch = FRESH_WATCH;
  let outcome = NO_OUTCOME;
  let episodes: Episodes = new Map();
  let second = 0;
  const stored = new Map<string, BlockingEpisode>();
  let pulses = 0;
  while (second < 60) {
    const seconds = waitsAt(second);
    const reading = {
      ...CALM,
      waits: seconds.flatMap((age, n) => (age >= 1 ? [wait(n + 2, [1], age)] : [])),
      shortWaits: seconds.filter((age) => age < 1).length,
    };
    const now = second * 1_000;
    const step = watchPulse(watch, { reading }, { at: now, now }, thresholds);
    watch = step.watch;
    const tracked = trackEpisodes(episodes, reading, new Date(now));
    ({ episodes } = tracked);
    for (const episode of tracked.stored) stored.set(episode.began_at.toISOString(), episode);
    const isClose = step.isClose && isCloseAllowed;
    outcome = nextOutcome(outcome, { kind: 'reading', isClose, hasShortWait: seesShortWait(reading) });
    second += nextPulse(outcome, 10_000) / 1_000;
    pulses++;
  }
  return { stored: [...stored.values()], pulses };
}

test.each([true, false])(
  'a wait of ten seconds is found whenever it begins; close looks: %s',
  (isCloseAllowed) => {
    for (let begin = 10; begin < 20; begin += 0.125) {
      const ageAt = (second: number) => (second >= begin && second < begin + 10 ? [second - begin] : []);
      const { stored } = watchWaits(ageAt, isCloseAllowed);
      expect(stored, `from ${begin} s on`).toHaveLength(1);
      const [episode] = stored;
      expect(episode?.began_at.getTime()).toBeCloseTo(begin * 1_000, -1);
      if (!isCloseAllowed) continue;
      expect(Math.abs((episode?.ended_at?.getTime() ?? 0) / 1_000 - begin - 10)).toBeLessThanOrEqual(1);
    }
  },
);

test('a server where somebody always waits for a moment has twice the pulses at most', () => {
  const { stored, pulses } = watchWaits(() => [0.5], true);
  expect(stored).toEqual([]);
  expect(pulses).toBe(12);
});

test('ten connections of an account have a close look at most, and a hundred in all', () => {
  const looks = new CloseLooks();
  const enter = (accountId: number) => looks.enter({ accountId, connectionId: accountId * 100 + counter++ });
  let counter = 0;
  const entered = Array.from({ length: 12 }, (_, account) =>
    Array.from({ length: 11 }, () => enter(account + 1)),
  );
  expect(entered.map((each) => each.filter(Boolean).length)).toEqual([...Array(10).fill(10), 0, 0]);
  looks.leave({ accountId: 1, connectionId: 100 });
  looks.leave({ accountId: 1, connectionId: 100 });
  expect([enter(12), enter(12)]).toEqual([true, false]);
});

test('evidence names the checks that need no second run', () => {
  const evidence = parseEvidence({
    holding: ['blocked', 'of a later version'],
    cleared: ['connections', 'blocked_long'],
  });
  expect(evidence).toEqual({ holding: ['blocked'], cleared: ['blocked_long', 'connections'] });
  const { faults, ends } = witnessedChecks(evidence);
  expect([...faults]).toEqual(['PG_BLOCKED_SESSIONS', 'MY_LOCK_WAITS', 'MY_MDL_WAIT', 'PB_CLIENTS_WAITING']);
  expect([...ends]).toEqual(['PG_CONN_SATURATION', 'MY_CONN_SATURATION', 'PB_CLIENT_LIMIT']);
  expect([parseEvidence(null), parseEvidence('[]')]).toEqual([null, null]);
  const figures = { blocked_seconds: 3, blocked_sessions: 2, load_active_sessions: null };
  expect(parseEvidence({ holding: ['rule_7'], cleared: [], figures })).toEqual({
    holding: [],
    cleared: [],
    figures,
  });
  expect(parseEvidence({ figures: { ...figures, blocked_seconds: '3' } })).toEqual({
    holding: [],
    cleared: [],
  });
  expect(witnessedChecks({ holding: ['rule_7'], cleared: [] }).faults.size).toBe(0);
});
