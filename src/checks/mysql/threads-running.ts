import type { Check } from '../check.ts';
import type { Measure } from '../measure.ts';
import { grouped, percent } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';

/** Share of max_connections, as in the common Prometheus rules for MySQL. */
const thresholds = { warning: 0.6 };

const RUNNING =
  "SELECT concat('KILL QUERY ', id, ';') AS statement, user, db, time, state FROM information_schema.processlist WHERE command NOT IN ('Sleep', 'Daemon') AND command NOT LIKE 'Binlog Dump%' AND user NOT IN ('system user', 'event_scheduler') AND id <> connection_id() ORDER BY time DESC; -- longest-running first; run what it prints for those that you can do without";

/** Threads_running ÷ max_connections: sessions that are busy at this moment. */
export const threadsRunning: Check<typeof thresholds> = {
  id: 'MY_THREADS_RUNNING',
  title: 'Many sessions busy at once',
  category: 'connections',
  maxSeverity: 'warning',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => figures({ status: ['Threads_running'], variables: ['max_connections'] }),
  judge: (rows, facts) => {
    const { warning } = facts.thresholds;
    const read = new Figures(rows);
    const running = read.number('Threads_running');
    const available = read.number('max_connections');
    const share = running / available;
    const busy = `${grouped(running)} of ${grouped(available)} possible sessions are busy (${percent(share)})`;
    const scale = {
      metric: 'threads_running_ratio',
      operator: '>=',
      warning,
      critical: null,
      limit: 1,
    } as const;
    const measure: Measure = { ...scale, object: null, value: share };
    if (share < warning)
      return {
        faults: [],
        passMessage: `${busy}.`,
        measures: [measure],
        near: 10 * running >= 9 * warning * available ? [null] : [],
      };
    return {
      passMessage: `${busy}.`,
      measures: [measure],
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `${busy}; look at the longest-running statements, and use smaller connection pools.`,
          remediation: RUNNING,
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
