import type { SeriesValue } from '../../checks/measure.ts';
import type { SampleConnection } from './sample-connection.ts';
import { type Curve, growthCurve, noise, workCurve } from './sample-curves.ts';
import { type Incident, incidentCurve } from './sample-incidents.ts';
import { randomNumber } from './sample-random.ts';

const DAY_S = 86_400;
const MEGABYTE = 1_000_000;
/** The newest faults of a connection show in its values, and the newest of these have a series of their own. */
const MOST_INCIDENTS = 100;
const MOST_OF_OBJECTS = 20;

/** A series of sample data: what it is called and compared with, and its values. */
export interface SampleSeries extends Omit<SeriesValue, 'value'> {
  curve: Curve;
}

const NO_LEVELS = { operator: null, warning: null, critical: null } as const;

const vital = (metric: string, curve: Curve, given: Partial<SampleSeries> = {}): SampleSeries => ({
  ...{ checkId: '', metric, database: '', object: null, ...NO_LEVELS, curve },
  ...given,
});

const NO_OBJECT = { database: '', object: null, operator: '>=', critical: null } as const;

/** What has taken longest on a server now, as the check of each engine measures it. */
const LONGEST = {
  mysql: { checkId: 'MY_LONG_TRX', metric: 'longest_transaction_seconds', warning: 3_600, ...NO_OBJECT },
  postgres: { checkId: 'PG_LONG_QUERY', metric: 'longest_query_seconds', warning: 1_800, ...NO_OBJECT },
} as const;

/**
 * The series of a connection. `end` is its last run, in Unix seconds: there, the values are those of its findings. In
 * every third connection, one table began to leak eight days before.
 */
export function seriesOf(
  { seed, engine }: SampleConnection,
  { incidents, end, leaks }: { incidents: readonly Incident[]; end: number; leaks: boolean },
): SampleSeries[] {
  const own = (n: number) => randomNumber(seed + 101 * n);
  const work = (value: number, n: number, most = Infinity) => workCurve(value, seed + n, { end, most });
  const measured = incidents.filter(({ finding }) => finding.measured).slice(-MOST_INCIDENTS);
  const isSlow = (at: number) => measured.some(({ from, to }) => at >= from && at < to);
  const slowed =
    (curve: Curve, by: number): Curve =>
    (at) =>
      (curve(at) ?? 0) * (isSlow(at) ? by : 1);
  const worst = (metric: string, usual: Curve): Curve => {
    const curves = measured
      .filter(({ ticket }) => ticket.fault.measured?.metric === metric)
      .map((incident) => incidentCurve(incident, incident.ticket.fault.measured ?? NEVER, end));
    return (at) => Math.max(usual(at) ?? 0, ...curves.map((curve) => curve(at) ?? 0));
  };
  const [used, available] = engine === 'mysql' ? [38, 151] : [23, 97];
  const connections = worst('connections_used_ratio', work(used / available, 1, 0.76));
  const longest = engine === 'mysql' ? LONGEST.mysql : LONGEST.postgres;
  const oldest = worst(longest.metric, (at) => 20 * (1 + noise(seed + 2, at)));
  const leak: Curve = (at) => (leaks ? Math.max(0, at - end + 8 * DAY_S) / DAY_S : 0) * 2_400 * MEGABYTE;
  const size = growthCurve((20 + 80 * own(3)) * 1e9, (50 + 150 * own(4)) * MEGABYTE, end);
  const table = growthCurve((4 + 8 * own(5)) * 1e9, 30 * MEGABYTE, end);
  const rate = (metric: string, value: number, n: number, by = 1) =>
    vital(metric, slowed(work(value, n), by));
  const grows = { database: 'app', grows: true } as const;
  const prefix = engine === 'mysql' ? 'MY' : 'PG';
  return [
    rate(engine === 'mysql' ? 'queries_per_second' : 'transactions_per_second', 200 + 600 * own(6), 6, 0.6),
    vital('connections_count', (at) => Math.round((connections(at) ?? 0) * available)),
    vital('active_connections_count', (at) =>
      Math.round(((connections(at) ?? 0) * available) / (isSlow(at) ? 2 : 8)),
    ),
    vital('cache_hit_ratio', (at) => 0.995 - (isSlow(at) ? 0.06 : 0.004) * (0.5 + noise(seed + 7, at))),
    rate('rows_read_per_second', 20_000 + 60_000 * own(8), 8, 4),
    rate('rows_written_per_second', 300 + 900 * own(9), 9, 0.7),
    rate(
      engine === 'mysql' ? 'redo_bytes_per_second' : 'wal_bytes_per_second',
      (0.5 + own(10)) * MEGABYTE,
      10,
    ),
    vital('lock_waiters_count', (at) => Math.round(isSlow(at) ? 4 + 6 * noise(seed + 11, at) : 0)),
    ...(engine === 'mysql'
      ? [rate('history_list_count', 412, 12, 20)]
      : [
          rate('temporary_bytes_per_second', 40_000 + 90_000 * own(12), 12, 6),
          vital(longest.metric, oldest),
        ]),
    vital('database_bytes', (at) => Math.round((size(at) ?? 0) + (leak(at) ?? 0)), grows),
    vital('table_bytes', (at) => Math.round((table(at) ?? 0) + (leak(at) ?? 0)), {
      ...grows,
      object: named('events', engine),
    }),
    vital('table_bytes', growthCurve((3 + 5 * own(13)) * 1e9, 20 * MEGABYTE, end), {
      ...{ ...grows, object: named('orders', engine) },
    }),
    {
      ...{
        checkId: `${prefix}_CONN_SATURATION`,
        metric: 'connections_used_ratio',
        database: '',
        object: null,
      },
      ...{ operator: '>=', warning: 0.8, critical: 0.95, limit: 1, curve: connections },
    },
    {
      ...longest,
      curve: oldest,
    },
    counterSeries(engine, growthCurve(0.5 + 0.3 * own(14), 0.001 + 0.003 * own(15), end)),
    ...objectSeries(measured.slice(-MOST_OF_OBJECTS), end),
  ];
}

const NEVER = { metric: '', warning: 0, critical: 0, value: () => 0 };

/** The name of a table as findings show it. */
function named(table: string, engine: SampleConnection['engine']): string {
  return engine === 'mysql' ? `\`app\`.\`${table}\`` : `public.${table}`;
}

/** The sequence or AUTO_INCREMENT column that fills up. */
function counterSeries(engine: SampleConnection['engine'], curve: Curve): SampleSeries {
  const levels = { operator: '>=', warning: 0.85, critical: 0.95, limit: 1, grows: true, curve } as const;
  return engine === 'mysql'
    ? {
        ...{ checkId: 'MY_AUTOINC_EXHAUSTION', metric: 'auto_increment_used_ratio', database: '' },
        ...{ object: '`app`.`visits`', ...levels },
      }
    : {
        ...{ checkId: 'PG_SEQUENCE_EXHAUSTION', metric: 'sequence_used_ratio', database: 'app' },
        ...{ object: 'public.visits_id_seq', ...levels },
      };
}

/** A series for each object that had faults. */
function objectSeries(incidents: readonly Incident[], end: number): SampleSeries[] {
  const ofObject = Map.groupBy(
    incidents.filter(({ finding }) => finding.object !== null),
    ({ finding: { check_id, object } }) => `${check_id} ${object}`,
  );
  return [...ofObject.values()].flatMap((own) => {
    const [{ ticket, finding } = {}] = own;
    if (!ticket?.fault.measured || !finding) return [];
    const { metric, warning, critical, limit = null, grows } = ticket.fault.measured;
    const { check_id: checkId, database, object } = finding;
    const curves = own.map((incident) => incidentCurve(incident, ticket.fault.measured ?? NEVER, end));
    return [
      {
        ...{ checkId, metric, database, object, operator: '>=', warning, critical, limit },
        ...{ curve: (at) => curves.reduce((found: number | null, curve) => found ?? curve(at), null) },
        ...(grows && { grows }),
      },
    ];
  });
}
