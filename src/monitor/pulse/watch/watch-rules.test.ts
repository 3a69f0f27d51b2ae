import { expect, test } from 'vitest';
import type { PulseRule } from '../../../notifications/alerts/evaluation/pulse-rules.ts';
import type { PulseReading } from '../reading/pulse-reading.ts';
import { CALM } from './reading-fixture.ts';
import { FRESH_WATCH, watchPulse } from './watch-pulses.ts';

const busy = (active: number): PulseReading => ({ ...CALM, active });

const blocked = (count: number, seconds = 2): PulseReading => ({
  ...CALM,
  waits: Array.from({ length: count }, (_, n) => ({
    pid: n + 2,
    blockers: [1],
    seconds,
    lock: 'tuple',
    relation: null,
  })),
});

function rule(metric: PulseRule['metric'], threshold: number, more: Partial<PulseRule> = {}): PulseRule {
  return { id: 7, metric, operator: '>=', threshold, clear_threshold: null, for_seconds: 0, ...more };
}

/** What the pulses at these seconds ask a run for. */
function asked(rules: readonly PulseRule[], pulses: readonly [number, PulseReading | null][]) {
  let watch = FRESH_WATCH;
  const thresholds = {
    blockedSeconds: { warning: 1_000, critical: 1_000 },
    connections: { warning: 2, critical: 2 },
    rules,
  };
  return pulses.flatMap(([second, reading]) => {
    const answer = reading ? { reading } : { failure: { kind: 'unread' as const, reason: 'no' } };
    const step = watchPulse(watch, answer, { at: second * 1_000, now: second * 1_000 }, thresholds);
    watch = step.watch;
    return step.run ? [{ second, ...step.run }] : [];
  });
}

test('a run is asked for when a number of a rule is crossed, and when its clearing number is', () => {
  const pulses = asked(
    [rule('blocked_sessions', 3, { clear_threshold: 1 })],
    [
      [0, blocked(2)],
      [10, blocked(3)],
      [20, blocked(2)],
      [30, CALM],
      [40, CALM],
    ],
  );
  expect(pulses).toEqual([
    {
      second: 10,
      holding: ['rule_7'],
      cleared: [],
      figures: { blocked_seconds: 2, blocked_sessions: 3, load_active_sessions: null },
    },
    {
      second: 30,
      holding: [],
      cleared: ['rule_7'],
      figures: { blocked_seconds: 0, blocked_sessions: 0, load_active_sessions: null },
    },
  ]);
});

test('the load is the average of a minute, and what comes before one was seen is not judged', () => {
  const rules = [rule('load_active_sessions', 10)];
  expect(
    asked(rules, [
      [0, busy(100)],
      [10, busy(100)],
      [40, busy(100)],
    ]),
  ).toEqual([]);
  const seconds = Array.from({ length: 13 }, (_, n) => n * 10);
  const spike = seconds.map((second): [number, PulseReading] => [second, busy(second === 60 ? 50 : 0)]);
  expect(asked(rules, spike)).toEqual([]);
  const rise = seconds.map((second): [number, PulseReading] => [second, busy(second >= 60 ? 20 : 0)]);
  const outage: [number, PulseReading | null][] = [
    [0, busy(0)],
    [60, null],
    [600, busy(100)],
    [610, busy(0)],
    [660, busy(0)],
  ];
  expect(asked(rules, outage)).toEqual([]);
  expect(asked(rules, rise)).toMatchObject([{ second: 80, figures: { load_active_sessions: 10 } }]);
});

test('a rule that must hold for some time has a second run then', () => {
  const pulses = Array.from({ length: 16 }, (_, n): [number, PulseReading] => [n * 10, blocked(1)]);
  expect(asked([rule('blocked_sessions', 1, { for_seconds: 90 })], pulses)).toMatchObject([
    { second: 0, holding: ['rule_7'] },
    { second: 100, holding: ['rule_7', 'rule_7_long'] },
  ]);
});

test('a failed pulse has no figures, and rules cause no close look', () => {
  const thresholds = {
    blockedSeconds: { warning: 30, critical: 120 },
    connections: { warning: 1, critical: 1 },
    rules: [rule('load_active_sessions', 1)],
  };
  const read = { reading: busy(50) };
  const step = [0, 30_000, 60_000].reduce(
    ({ watch }, at) => watchPulse(watch, read, { at, now: at }, thresholds),
    { watch: FRESH_WATCH, run: null, isClose: true } as ReturnType<typeof watchPulse>,
  );
  expect(step).toMatchObject({ run: { holding: ['rule_7'] }, isClose: false });
  const failed = { failure: { kind: 'unread' as const, reason: 'no' } };
  expect(watchPulse(step.watch, failed, { at: 1e6, now: 1e6 }, thresholds).watch.figures).toBeNull();
});
