import type { Check } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import { grouped } from '../wording.ts';
import { atLeast, faultMeasure } from '../worst-measures.ts';
import { alterSystem } from './alter-system.ts';

/** Connections: above this use a pooler, on any machine; dbvitals' own value. */
const thresholds = { info: 300 };

const sql = `
  select current_setting('max_connections')::int as max_connections`;

/** A max_connections that allows more sessions than a machine can serve at a time. */
export const maxConnHigh: Check<typeof thresholds> = {
  id: 'PG_MAX_CONN_HIGH',
  title: 'max_connections is high',
  category: 'connections',
  maxSeverity: 'info',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { info } = facts.thresholds;
    const most = numberIn(onlyRow(rows), 'max_connections');
    const passMessage = `max_connections is ${grouped(most)}.`;
    const scale = atLeast('max_connections_count', Math.floor(info) + 1);
    const measure = { ...scale, object: null, value: most };
    const measures = [measure];
    if (most <= info) return { faults: [], passMessage, measures, near: most >= 0.9 * info ? [null] : [] };
    return {
      passMessage,
      measures,
      faults: [
        {
          severity: 'info',
          object: null,
          metricLine: `max_connections is ${grouped(most)}; put a pooler in front, and lower it to ${grouped(info)}.`,
          remediation: alterSystem(facts, {
            name: 'max_connections',
            value: info,
            restart: true,
            note: 'fewer suffice, as with a pooler such as PgBouncer in front',
            look: "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend';",
          }),
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
