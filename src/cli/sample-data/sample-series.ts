import { makeOwnSeries } from './own-check/sample-own-series.ts';
import { makePoolerSeries } from './pooler/sample-pooler-series.ts';
import {
  type Course,
  type Curve,
  growthCurve,
  noise,
  type SampleSeries,
  workCurve,
} from './sample-curves.ts';
import { type Incident, incidentCurve } from './sample-incidents.ts';
import { randomNumber } from './sample-random.ts';
import type { StoredConnection } from './sample-target.ts';

const DAY_S = 86_400;
const MEGABYTE = 1_000_000;
/** The newest faults of a connection show in its values, and the newest of these have a series of their own. */
const MOST_INCIDENTS = 100;
const MOST_OF_OBJECTS = 20;

/** What the engines call a thing, and what their checks compare. */
const NAMES = {
  postgres: {
    queries: 'transactions_per_second',
    log: 'wal_bytes_per_second',
    table: (name: string) => `public.${name}`,
    connections: { used: 23, all: 97, check: 'PG_CONN_SATURATION' },
    longest: { checkId: 'PG_LONG_QUERY', metric: 'longest_query_seconds', warning: 1_800 },
    counter: {
      checkId: 'PG_SEQUENCE_EXHAUSTION',
      metric: 'sequence_used_ratio',
      database: 'app',
      object: 'public.visits_id_seq',
    },
  },
  mysql: {
    queries: 'queries_per_second',
    log: 'redo_bytes_per_second',
    table: (name: string) => `\`app\`.\`${name}\``,
    connections: { used: 38, all: 151, check: 'MY_CONN_SATURATION' },
    longest: { checkId: 'MY_LONG_TRX', metric: 'longest_transaction_seconds', warning: 3_600 },
    counter: {
      checkId: 'MY_AUTOINC_EXHAUSTION',
      metric: 'auto_increment_used_ratio',
      database: '',
      object: '`app`.`visits`',
    },
  },
} as const;

/**
 * The series of a connection. `end` is its last run, in Unix seconds: there, the values are those of its findings. In
 * every third connection, one table began to leak eight days before.
 */
export function makeSeries(
  connection: StoredConnection,
  { incidents, end }: { incidents: readonly Incident[]; end: number },
): SampleSeries[] {
  const measured = incidents.filter(({ finding }) => finding.measured).slice(-MOST_INCIDENTS);
  const course = plotCourse(connection, measured, end);
  const { engine, hasOwnCheck } = connection;
  const ofServer =
    engine === 'pgbouncer'
      ? makePoolerSeries(course)
      : [...makeVitals(engine, course), ...makeMeasures(engine, course)];
  return [
    ...ofServer,
    ...(hasOwnCheck ? [makeOwnSeries(course)] : []),
    ...objectSeries(measured.slice(-MOST_OF_OBJECTS), end),
  ];
}

function plotCourse({ seed, place }: StoredConnection, incidents: readonly Incident[], end: number): Course {
  const isSlow = (at: number) =>
    incidents.some(({ from, to, ticket }) => at >= from && at < to && !ticket.fault.isHarmless);
  return {
    seed,
    vary: (n) => randomNumber(seed + 101 * n),
    work(value, n, slowdown) {
      const curve = workCurve(value, seed + n, { end });
      return (at) => (curve(at) ?? 0) * (isSlow(at) ? slowdown : 1);
    },
    worst(metric, usual) {
      const curves = incidents
        .filter(({ finding }) => finding.measured?.metric === metric)
        .map((incident) => incidentCurve(incident, end));
      return (at) => Math.max(usual(at) ?? 0, ...curves.map((curve) => curve(at) ?? 0));
    },
    isSlow,
    leak: (at) => (place % 3 === 1 ? Math.max(0, at - end + 8 * DAY_S) / DAY_S : 0) * 2_400 * MEGABYTE,
    end,
  };
}

function makeVitals(engine: keyof typeof NAMES, course: Course): SampleSeries[] {
  const { seed, vary, work, isSlow, end } = course;
  const { queries, log, table, connections, longest } = NAMES[engine];
  const used = usedConnections(seed, engine, course);
  const size = growthCurve((20 + 80 * vary(3)) * 1e9, (50 + 150 * vary(4)) * MEGABYTE, end);
  const events = growthCurve((4 + 8 * vary(5)) * 1e9, 30 * MEGABYTE, end);
  const leaking = (curve: Curve) => (at: number) => Math.round((curve(at) ?? 0) + (course.leak(at) ?? 0));
  const count = (at: number) => (used(at) ?? 0) * connections.all;
  const ofEngine: [string, Curve][] =
    engine === 'mysql'
      ? [['history_list_count', work(412, 12, 20)]]
      : [
          ['temporary_bytes_per_second', work(40_000 + 90_000 * vary(12), 12, 6)],
          [longest.metric, longestSeconds(seed, engine, course)],
        ];
  const ofServer: [string, Curve][] = [
    [queries, work(200 + 600 * vary(6), 6, 0.6)],
    ['connections_count', (at) => Math.round(count(at))],
    ['active_connections_count', (at) => Math.round(count(at) / (isSlow(at) ? 2 : 8))],
    ['cache_hit_ratio', (at) => 0.995 - (isSlow(at) ? 0.06 : 0.004) * (0.5 + noise(seed + 7, at))],
    ['rows_read_per_second', work(20_000 + 60_000 * vary(8), 8, 4)],
    ['rows_written_per_second', work(300 + 900 * vary(9), 9, 0.7)],
    [log, work((0.5 + vary(10)) * MEGABYTE, 10, 1)],
    ['lock_waiters_count', (at) => Math.round(isSlow(at) ? 4 + 6 * noise(seed + 11, at) : 0)],
    ...ofEngine,
  ];
  const growing: [string, string | null, Curve][] = [
    ['database_bytes', null, leaking(size)],
    ['table_bytes', table('events'), leaking(events)],
    ['table_bytes', table('orders'), growthCurve((3 + 5 * vary(13)) * 1e9, 20 * MEGABYTE, end)],
  ];
  const vital = { checkId: '', database: '', object: null, operator: null, warning: null, critical: null };
  return [
    ...ofServer.map(([metric, curve]) => ({ ...vital, metric, curve })),
    ...growing.map(([metric, object, curve]) => {
      return { ...vital, metric, curve, database: 'app', object, grows: true as const };
    }),
  ];
}

/** What checks compare with thresholds: connections, what takes longest, and a counter that fills up. */
function makeMeasures(engine: keyof typeof NAMES, course: Course): SampleSeries[] {
  const { connections, longest, counter } = NAMES[engine];
  const { seed, vary, end } = course;
  const compared = { database: '', object: null, operator: '>=' } as const;
  return [
    {
      ...compared,
      checkId: connections.check,
      metric: 'connections_used_ratio',
      warning: 0.8,
      critical: 0.95,
      limit: 1,
      curve: usedConnections(seed, engine, course),
    },
    { ...compared, ...longest, critical: null, curve: longestSeconds(seed, engine, course) },
    {
      ...counter,
      operator: '>=',
      warning: 0.85,
      critical: 0.95,
      limit: 1,
      grows: true,
      curve: growthCurve(0.5 + 0.3 * vary(14), 0.001 + 0.003 * vary(15), end),
    },
  ];
}

function usedConnections(seed: number, engine: keyof typeof NAMES, { worst, end }: Course): Curve {
  const { used, all } = NAMES[engine].connections;
  return worst('connections_used_ratio', workCurve(used / all, seed + 1, { end, most: 0.76 }));
}

function longestSeconds(seed: number, engine: keyof typeof NAMES, { worst }: Course): Curve {
  return worst(NAMES[engine].longest.metric, (at) => 20 * (1 + noise(seed + 2, at)));
}

/** A series for each object that had faults. */
function objectSeries(incidents: readonly Incident[], end: number): SampleSeries[] {
  const ofObject = Map.groupBy(
    incidents.filter(({ finding }) => finding.object !== null),
    ({ finding: { check_id, object } }) => `${check_id} ${object}`,
  );
  return [...ofObject.values()].flatMap((ofOne) => {
    const [{ ticket, finding } = {}] = ofOne;
    if (!ticket?.fault.measured || !finding) return [];
    const { metric, warning, critical, limit = null, grows } = ticket.fault.measured;
    const { check_id: checkId, database, object } = finding;
    const curves = ofOne.map((incident) => incidentCurve(incident, end));
    const curve = (at: number) => curves.reduce((value: number | null, one) => value ?? one(at), null);
    const levels = { operator: '>=', warning, critical, limit } as const;
    return [{ checkId, metric, database, object, ...levels, curve, ...(grows && { grows }) }];
  });
}
