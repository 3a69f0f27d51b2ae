import type { Check } from '../check.ts';
import type { Row } from '../fault.ts';
import { grouped, percent } from '../wording.ts';
import { atLeast, faultMeasure, worstOf } from '../worst-measures.ts';
import { CONFIG, DATABASES, databasesIn, LISTS, listed, nameOf, numberSetting } from './console.ts';

/** Shares of max_client_conn: as for the connections of a server. */
const thresholds = { warning: 0.8, critical: 0.95 };

/** Clients ÷ max_client_conn: at the limit, PgBouncer refuses every new client but those of its console. */
export const clientLimit: Check<typeof thresholds> = {
  id: 'PB_CLIENT_LIMIT',
  title: 'Client connections nearly used up',
  category: 'connections',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => [LISTS, CONFIG, DATABASES],
  judge: (rows, { thresholds: { warning, critical } }) => {
    const scale = { ...atLeast('connections_used_ratio', warning, critical), limit: 1 };
    const limits = limitsIn(rows);
    const measures = limits.map(({ object, value }) => ({ ...scale, object, value }));
    const [whole, ...ofDatabases] = measures;
    const [all] = limits;
    return {
      passMessage: all
        ? `${grouped(all.used)} of ${grouped(all.most)} client connections are in use (${percent(all.value)}).`
        : 'The number of clients has no limit.',
      measures: [...(whole ? [whole] : []), ...worstOf(ofDatabases)],
      near: limits
        .filter(({ value }) => value >= 0.9 * warning && value < warning)
        .map(({ object }) => object),
      faults: limits
        .filter(({ value }) => value >= warning)
        .map(({ object, name, used, most, value, setting }) => ({
          severity: value >= critical ? 'critical' : 'warning',
          object,
          metricLine: `${grouped(used)} of ${grouped(most)} client connections${name} are in use (${percent(value)}); let applications keep fewer, or raise ${setting}.`,
          remediation: `SHOW CLIENTS; -- who keeps them; if all are needed and the limit of open files allows it (LimitNOFILE), raise ${setting} in pgbouncer.ini, then run RELOAD;`,
          measured: faultMeasure({ ...scale, object, value }),
        })),
    };
  },
};

/** What limits clients: max_client_conn, and since 1.24 the limits of databases. */
function limitsIn(rows: readonly Row[]) {
  const used = listed(rows, 'used_clients') + listed(rows, 'login_clients');
  const most = numberSetting(rows, 'max_client_conn');
  const whole = { object: null, name: '', used, most, setting: 'max_client_conn' };
  const ofDatabases = databasesIn(rows).map(({ name, clients, clientLimit: limit }) => ({
    object: nameOf(name),
    name: ` of database ${nameOf(name)}`,
    used: clients,
    most: limit,
    setting: 'max_db_client_connections',
  }));
  return [whole, ...ofDatabases]
    .filter((limit) => limit.most > 0)
    .map((limit) => ({ ...limit, value: limit.used / limit.most }));
}
