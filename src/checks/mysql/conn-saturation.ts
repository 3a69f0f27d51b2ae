import type { Check } from '../check.ts';
import type { Measure } from '../measure.ts';
import { grouped, percent } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { setForGood } from './setting-check.ts';

/** Shares of max_connections: common Prometheus rules for MySQL warn at 80 %; 95 % as for PostgreSQL. */
const thresholds = { warning: 0.8, critical: 0.95 };

/** Threads_connected ÷ max_connections: at the limit only an administrator can connect. */
export const connSaturation: Check<typeof thresholds> = {
  id: 'MY_CONN_SATURATION',
  title: 'Connections nearly used up',
  category: 'connections',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => figures({ status: ['Threads_connected'], variables: ['max_connections'] }),
  judge: (rows, facts) => {
    const { warning, critical } = facts.thresholds;
    const read = new Figures(rows);
    const used = read.number('Threads_connected');
    const available = read.number('max_connections');
    const share = used / available;
    const inUse = `${grouped(used)} of ${grouped(available)} connections are in use (${percent(share)})`;
    const scale = { metric: 'connections_used_ratio', operator: '>=', warning, critical, limit: 1 } as const;
    const measure: Measure = { ...scale, object: null, value: share };
    if (share < warning)
      return {
        faults: [],
        passMessage: `${inUse}.`,
        measures: [measure],
        near: 10 * used >= 9 * warning * available ? [null] : [],
      };
    return {
      passMessage: `${inUse}.`,
      measures: [measure],
      faults: [
        {
          severity: share >= critical ? 'critical' : 'warning',
          object: null,
          metricLine: `${inUse}; put a pooler in front, or raise max_connections.`,
          remediation: setForGood(facts.version, 'max_connections', available * 2),
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
