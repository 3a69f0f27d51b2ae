import type { Check } from '../check.ts';
import { numberIn, onlyRow } from '../columns.ts';
import { grouped, percent } from '../wording.ts';
import { atLeast, faultMeasure } from '../worst-measures.ts';
import { alterSystem } from './alter-system.ts';
import { unseenSessions } from './session-check.ts';

/** Shares of the connections that ordinary roles may open; common Prometheus rules warn at 80 %, check_postgres is critical at 95 %. */
const thresholds = { warning: 0.8, critical: 0.95 };

// WAL senders have their own slots. Two settings reserve connections (the second since 16).
const sql = `
  select (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used,
         current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0) as available,
         current_setting('max_connections')::int as max_connections,
         pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me`;

/** Client backends ÷ (max_connections − reserved): at the limit no ordinary role can connect. */
export const connSaturation: Check<typeof thresholds> = {
  id: 'PG_CONN_SATURATION',
  title: 'Connections nearly used up',
  category: 'connections',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning, critical } = facts.thresholds;
    const row = onlyRow(rows);
    const used = numberIn(row, 'used');
    const available = numberIn(row, 'available');
    const share = used / available;
    const passMessage = `${grouped(used)} of ${grouped(available)} connections are in use (${percent(share)}).`;
    const unseen = unseenSessions(row);
    if (unseen) return unseen;
    const scale = { ...atLeast('connections_used_ratio', warning, critical), limit: 1 };
    const measure = { ...scale, object: null, value: share };
    const measures = [measure];
    if (share < warning)
      return { faults: [], passMessage, measures, near: 10 * used >= 9 * warning * available ? [null] : [] };
    return {
      passMessage,
      measures,
      faults: [
        {
          severity: share >= critical ? 'critical' : 'warning',
          object: null,
          metricLine: `${grouped(used)} of ${grouped(available)} connections are in use (${percent(share)}); put a pooler in front, or raise max_connections.`,
          remediation: alterSystem(facts, {
            name: 'max_connections',
            value: numberIn(row, 'max_connections') * 2,
            restart: true,
            note: 'all of them are needed, a pooler such as PgBouncer is no choice, and the memory is enough',
            look: "SELECT usename, application_name, state, count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' GROUP BY 1, 2, 3 ORDER BY 4 DESC;",
          }),
          measured: faultMeasure(measure),
        },
      ],
    };
  },
};
