import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StandingAlert } from '../alert-row.ts';
import type { WatchedRule } from '../alert-rule.ts';
import { facts, rule, UNREACHED } from '../alerts-fixture.ts';
import { stepsOfRun } from '../evaluate-rules.ts';

const DAY = 86_400_000;

/** What a rule about the score means, said as simply as possible. */
class ScoreModel {
  phase: 'none' | 'pending' | 'open' = 'none';
  triggered = 0;
  resolved = 0;
  private since = 0;
  private runs = 0;
  private reopened: number[] = [];
  private resolvedAt = Number.NEGATIVE_INFINITY;
  private readonly rule: WatchedRule;

  constructor(of: WatchedRule) {
    this.rule = of;
  }

  run(at: number, score: number): void {
    const { threshold, clear_threshold, for_runs, for_seconds } = this.rule;
    if (this.phase === 'open') {
      if (score >= (clear_threshold ?? threshold) && !this.isHeld(at)) {
        this.phase = 'none';
        this.resolved++;
        this.resolvedAt = at;
      }
      return;
    }
    if (score >= threshold) {
      this.phase = 'none';
      return;
    }
    if (this.phase === 'none') [this.phase, this.since, this.runs] = ['pending', at, 0];
    this.runs++;
    if (this.runs < for_runs || at - this.since < for_seconds * 1_000) return;
    this.phase = 'open';
    this.triggered++;
    const isReopened = at - this.resolvedAt < DAY;
    this.reopened = isReopened ? [...this.reopened.filter((time) => at - time <= DAY), at] : [];
  }

  private isHeld(at: number): boolean {
    const [first, , last] = this.reopened.slice(-3);
    return first !== undefined && last !== undefined && last - first <= DAY && at - last < DAY;
  }
}

const aRule = fc.record({
  threshold: fc.integer({ min: 1, max: 100 }),
  clearance: fc.option(fc.integer({ min: 0, max: 30 })),
  for_runs: fc.integer({ min: 1, max: 4 }),
  for_seconds: fc.constantFrom(0, 60, 600, 3_600),
});
const someRuns = fc.array(
  fc.record({
    minutes: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(60, 600, 1_439, 1_440, 1_441)),
    score: fc.oneof(fc.constantFrom(0, 49, 50, 51, 100), fc.integer({ min: 0, max: 100 })),
  }),
  { minLength: 1, maxLength: 60 },
);

test('a rule does what its model says, whatever the runs find', () => {
  fc.assert(
    fc.property(aRule, someRuns, ({ clearance, threshold, ...given }, runs) => {
      const clear_threshold = clearance === null ? null : Math.min(100, threshold + clearance);
      const { is_enabled: _, ...settings } = rule({ ...given, threshold, clear_threshold });
      const watched: WatchedRule = { ...settings, id: 1 };
      const model = new ScoreModel(watched);
      const store = new Alerts(watched);
      let at = Date.parse('2026-01-01T00:00:00Z');
      for (const { minutes, score } of runs) {
        at += minutes * 60_000;
        model.run(at, score);
        store.run(at, facts({ score }));
        expect(store.phase()).toBe(model.phase);
      }
      expect(store.said).toEqual(
        Array.from(store.said, (_one, n) => (n % 2 === 0 ? 'alert.triggered' : 'alert.resolved')),
      );
      expect(store.said.filter((kind) => kind === 'alert.triggered')).toHaveLength(model.triggered);
      expect(store.said.filter((kind) => kind === 'alert.resolved')).toHaveLength(model.resolved);
    }),
    { numRuns: 300 },
  );
});

test('the time without an answer is that since the last run that reached the server', () => {
  const reach = fc.array(fc.record({ minutes: fc.integer({ min: 1, max: 20 }), isReached: fc.boolean() }), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_600 }), reach, (threshold, runs) => {
      const { is_enabled: _, ...settings } = rule({
        metric: 'unreachable_seconds',
        operator: '>=',
        threshold,
      });
      const store = new Alerts({ ...settings, id: 1 });
      let at = Date.parse('2026-01-01T00:00:00Z');
      let [reachedAt, opened, wasOpen] = [null as number | null, 0, false];
      let first: number | null = null;
      for (const { minutes, isReached } of runs) {
        at += minutes * 60_000;
        store.run(at, isReached ? facts() : facts({ score: 0, outcomes: UNREACHED }));
        first ??= at;
        if (isReached) reachedAt = at;
        const isOver = !isReached && at - (reachedAt ?? first) >= threshold * 1_000;
        // Flapping holds it open: then nothing new is said.
        if (!wasOpen && isOver) opened++;
        wasOpen = store.phase() === 'open';
        if (isOver) expect(wasOpen).toBe(true);
      }
      expect(store.said.filter((kind) => kind === 'alert.triggered')).toHaveLength(opened);
    }),
    { numRuns: 300 },
  );
});

/** The alerts of a rule and connection, stored as the store does it. */
class Alerts {
  readonly said: string[] = [];
  private alerts: StandingAlert[] = [];
  private previous: string | null = null;
  private readonly rule: WatchedRule;

  constructor(of: WatchedRule) {
    this.rule = of;
  }

  phase(): 'none' | 'pending' | 'open' {
    const [standing, second] = this.alerts.filter(({ state }) => state !== 'resolved');
    expect(second).toBeUndefined();
    return standing === undefined || standing.state === 'resolved' ? 'none' : standing.state;
  }

  run(time: number, found: ReturnType<typeof facts>): void {
    const at = new Date(time).toISOString();
    const resolved = this.alerts.filter(
      ({ resolved_at }) => resolved_at !== null && time - Date.parse(resolved_at) < DAY,
    );
    const alerts = [...this.alerts.filter(({ state }) => state !== 'resolved'), ...resolved.slice(-1)];
    const connection = {
      id: 1,
      name: 'orders',
      host: 'localhost',
      port: 5432,
      connection_type: 'direct',
      tags: [],
    };
    const watch = { rules: [this.rule], alerts, forecasts: [], pulse: null, previous_run_at: this.previous };
    const surroundings = { connection, isInMaintenance: false, canAnnounce: true };
    const steps = stepsOfRun({ connectionId: 1, at }, found, { ...watch, ...surroundings });
    for (const { write, alert, announced } of steps) {
      const alert_id = alert.alert_id ?? this.alerts.length + 1;
      const others = this.alerts.filter((one) => one.alert_id !== alert_id);
      this.alerts = write === 'delete' ? others : [...others, { ...alert, alert_id }];
      if (announced) this.said.push(announced);
    }
    this.previous = at;
  }
}
