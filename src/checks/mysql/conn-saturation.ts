import type { Check } from '../check.ts';
import type { Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { grouped, percent } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { setForGood } from './setting-check.ts';

/** Shares of max_connections: common Prometheus rules for MySQL warn at 80 %; 95 % as for PostgreSQL. */
const thresholds = { warning: 0.8, critical: 0.95 };

/** How long a peak between two runs is reported; dbvitals' own. */
const PEAK_SECONDS = 86_400;
const PEAK = 'peak';
const [TIME, SINCE] = ['Max_used_connections_time', 'Uptime_since_flush_status'];

// The server gives the time of the peak in the machine's time zone, whatever the session's.
const clock = `
  select date_format(convert_tz(utc_timestamp(), '+00:00', 'SYSTEM'), '%Y-%m-%d %H:%i:%s') as clock`;

/** Threads_connected ÷ max_connections: at the limit only an administrator can connect. */
export const connSaturation: Check<typeof thresholds> = {
  id: 'MY_CONN_SATURATION',
  title: 'Connections nearly used up',
  category: 'connections',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => [
    clock,
    ...figures({
      status: ['Threads_connected', 'Max_used_connections', TIME, SINCE],
      variables: ['max_connections'],
    }),
  ],
  judge: (rows, facts) => {
    const { warning, critical } = facts.thresholds;
    const read = new Figures(rows);
    const used = read.number('Threads_connected');
    const available = read.number('max_connections');
    const share = used / available;
    const inUse = `${grouped(used)} of ${grouped(available)} connections are in use (${percent(share)})`;
    const scale = { metric: 'connections_used_ratio', operator: '>=', warning, critical, limit: 1 } as const;
    const measure: Measure = { ...scale, object: null, value: share };
    const remediation = setForGood(facts, 'max_connections', available * 2);
    const peak = recentPeak(rows, read);
    const highest: Measure[] =
      peak === null
        ? []
        : [
            {
              metric: 'connections_peak_ratio',
              object: PEAK,
              value: peak / available,
              operator: '>=',
              warning,
              critical: null,
            },
          ];
    const [first] = highest;
    if (share < warning)
      return {
        faults:
          first && peak !== null && first.value >= warning
            ? [
                {
                  severity: 'warning',
                  object: PEAK,
                  metricLine: `${grouped(peak)} of ${grouped(available)} connections were in use at once within the last day (${percent(first.value)}); put a pooler in front, or raise max_connections.`,
                  remediation,
                  measured: faultMeasure(first),
                },
              ]
            : [],
        passMessage: `${inUse}.`,
        measures: [measure, ...highest],
        near: 10 * used >= 9 * warning * available ? [null] : [],
      };
    return {
      passMessage: `${inUse}.`,
      measures: [measure, ...highest.filter(({ value }) => value < warning)],
      faults: [
        {
          severity: share >= critical ? 'critical' : 'warning',
          object: null,
          metricLine: `${inUse}; put a pooler in front, or raise max_connections.`,
          remediation,
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};

/**
 * The most connections at once, if that was less than a day ago; null if not, or not known. MariaDB before 11 does not
 * show when it was, only since when it counts.
 */
function recentPeak(rows: readonly Row[], read: Figures): number | null {
  const now = rows.find((row) => 'clock' in row)?.['clock'];
  const seconds = read.has(TIME)
    ? (Date.parse(`${now}Z`) - Date.parse(`${read.text(TIME)}Z`)) / 1_000
    : read.has(SINCE)
      ? read.number(SINCE)
      : PEAK_SECONDS;
  return seconds < PEAK_SECONDS ? read.number('Max_used_connections') : null;
}
