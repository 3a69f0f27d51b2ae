import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import type { FaultMeasure } from '../../src/checks/measure.ts';
import { duration, grouped, percent, rate, size } from '../../src/checks/wording.ts';
import { crosses, MEASURED_OBJECTS } from '../../src/checks/worst-measures.ts';
import type { SeenJudgement } from './seen-judgement.ts';

/** The checks that compare no number and list no objects. */
export const SWITCHES: ReadonlySet<string> = new Set([
  'PG_ARCHIVER_FAILING', // compares which of two times is later
  'PG_AUTOVACUUM_OFF',
  'PG_FSYNC_OFF',
  'PG_PGSS_MISSING',
  'PG_PUBLIC_CREATE',
  'PG_REPLAY_PAUSED',
  'PB_AUTH_WEAK',
  'PB_STARTUP_IGNORED',
  'PG_VERSION_EOL', // compares a date
  'MY_BINLOG_NO_EXPIRY', // 0 = never
  'MY_BINLOG_OFF',
  'MY_DOUBLEWRITE_OFF',
  'MY_FLUSH_NOT_1', // its numbers are modes, as those of the next two
  'MY_FORCE_RECOVERY',
  'MY_SYNC_BINLOG',
  'MY_LOCAL_INFILE',
  'MY_REDO_DISABLED',
  'MY_REPLICA_WRITABLE',
  'MY_SKIP_ERRORS',
  'MY_SQL_MODE_LAX',
  'MY_TLS_NOT_REQUIRED',
  'MY_VERSION_EOL', // compares a date
]);

/** Checks with faults that come from no number, besides those that only list the objects of a database. */
const WITHOUT_NUMBER: ReadonlySet<string> = new Set([
  'PB_DATABASE_PAUSED', // a state, as that of the next one
  'PB_SERVER_UNREACHABLE',
  'PG_PENDING_RESTART',
  'PG_PLANNER_OFF',
  'PG_SLOT_INACTIVE', // a lost slot
  'PG_DATABASE_INVALID',
  'PG_DATABASE_LEFT_OUT',
  'PG_STANDBY_CUT_OFF',
  'PG_SUBSCRIPTION_STOPPED',
  'MY_AUTH_LEGACY',
  'MY_EMPTY_PASSWORD',
  'MY_ROOT_REMOTE',
  'MY_CHARSET_LEGACY',
  'MY_MIXED_COLLATIONS',
  'MY_NON_INNODB',
  'MY_NO_PRIMARY_KEY',
  'MY_REDUNDANT_INDEX',
  'MY_GALERA_UNSYNCED',
  'MY_GROUP_MEMBER_DOWN',
  'MY_REPLICA_STOPPED', // the state of a server
]);

/** Lower case, and the base unit at the end. */
export const METRIC = /^[a-z][a-z0-9]*(_[a-z0-9]+)*_(ratio|bytes|seconds|count|per_second)$/;

/** The metrics that a check's page documents. */
export function documentedMetrics(id: string): string[] {
  const page = readFileSync(new URL(`../../docs/checks/${id}.md`, import.meta.url), 'utf8');
  const [, section = ''] = /\n## Measures\n([\s\S]*?)\n## /.exec(page) ?? [];
  return [...section.matchAll(/^\| `([^`]*)` \| [^|]+ \| [^|]+ \| [^|]+ \|$/gm)].map(
    ([, metric = '']) => metric,
  );
}

const reported = new Map<string, Set<string>>();

/** The metrics that a check has reported in this test file. */
export function reportedMetrics(id: string): string[] {
  return [...(reported.get(id) ?? [])].sort();
}

/** Fails unless a judgement reports its numbers as its page documents them, and its faults agree with them. */
export function expectMeasures(
  { id, scope }: Pick<Check, 'id' | 'scope'>,
  { faults, measures, skipped, truncated }: SeenJudgement,
): void {
  if (skipped !== undefined || SWITCHES.has(id)) {
    expect(measures, id).toEqual(skipped === undefined ? [] : undefined);
    expect(
      faults.flatMap(({ measured }) => measured ?? []),
      id,
    ).toEqual([]);
    return;
  }
  expect(measures, id).toBeDefined();
  const seen = measures ?? [];
  reported.set(id, new Set([...reportedMetrics(id), ...seen.map(({ metric }) => metric)]));
  expect(
    seen.map(({ metric, object }) => `${metric} ${object}`),
    id,
  ).toEqual([...new Set(seen.map(({ metric, object }) => `${metric} ${object}`))]);

  for (const measure of seen) {
    const { metric, value, object, operator, warning, critical } = measure;
    expect(metric).toMatch(METRIC);
    expect(documentedMetrics(id), id).toContain(metric);
    expect(Number.isFinite(value), `${metric}: ${value}`).toBe(true);
    expect(operator === null, metric).toBe(warning === null && critical === null);
    const objects = seen.filter((one) => one.metric === metric && one.object !== null);
    expect(objects.length, metric).toBeLessThanOrEqual(MEASURED_OBJECTS);
    if (truncated !== true && (crosses(measure, warning) || crosses(measure, critical))) {
      // A finding on a schema stands for the objects in it.
      const stands = (name: string | null) => name === object || object?.startsWith(`${name}.`);
      const named = faults.filter((fault) => object === null || stands(fault.object));
      expect(named.length, `${id}: ${metric} of ${object} is ${value}`).toBeGreaterThan(0);
    }
    if (scope === 'database' && object === null) {
      // A finding on a schema stands for several objects.
      const said = faults.map((fault) => (fault.measured?.metric === metric ? fault.measured.value : 1));
      expect(Math.min(100, value), metric).toBe(said.reduce((sum, one) => sum + one, 0));
    }
  }

  const isList = scope === 'database' && seen.length === 1;
  for (const { object, measured, metricLine } of faults) {
    if (measured === undefined) {
      expect(isList || WITHOUT_NUMBER.has(id), `${id}: ${metricLine}`).toBe(true);
      continue;
    }
    expect(
      shownAs(measured).some((number) => metricLine.includes(number)),
      `${metricLine} ${JSON.stringify(measured)}`,
    ).toBe(true);
    expect(crosses(measured, measured.threshold), `${id}: ${JSON.stringify(measured)}`).toBe(true);
    const same = seen.filter((one) => one.metric === measured.metric);
    expect(same.length, `${id}: ${measured.metric}`).toBeGreaterThan(0);
    expect(
      same.flatMap(({ warning, critical }) => [warning, critical]),
      id,
    ).toContain(measured.threshold);
    for (const one of same.filter((each) => each.object === object))
      expect(one.value, id).toBe(measured.value);
  }
}

/** How a finding's line may show its number. */
function shownAs({ metric, value }: FaultMeasure): string[] {
  if (metric.endsWith('_bytes_per_second')) return [size(Math.round(value * 3600))];
  if (metric.endsWith('_per_second'))
    return [grouped(value * 60), `${grouped(value * 3600)} an hour`, rate(value)];
  if (metric === 'query_mean_seconds') return [`${grouped(value * 1_000)} ms`];
  if (metric.endsWith('_seconds')) return [duration(Math.abs(value))];
  if (metric.endsWith('_bytes')) return [size(value)];
  return metric.endsWith('_ratio') ? [percent(value), `${value.toFixed(1)} times`] : [grouped(value)];
}
