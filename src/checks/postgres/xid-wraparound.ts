import type { Check, Fault, Row } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import { grouped, percent } from '../wording.ts';

/** Shares of the 2^31 transactions after which PostgreSQL refuses to write; autovacuum acts at 9 % by default. */
const thresholds = { warning: 0.5, critical: 0.8 };
const HORIZON = 2 ** 31;

const sql = `
  select quote_ident(datname) as database,
         age(datfrozenxid)::float8 as age,
         datallowconn
    from pg_database
   order by age desc`;

/** Age of each database's oldest transaction id, on the way to the wraparound. */
export const xidWraparound: Check = {
  id: 'PG_XID_WRAPAROUND',
  title: 'Transaction ids near wraparound',
  category: 'vacuum',
  worst: 'critical',
  volatile: false,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning, critical } = { ...thresholds, ...facts.thresholds };
    const oldest = Math.max(0, ...rows.map((row) => numberIn(row, 'age')));
    const old = rows.filter((row) => numberIn(row, 'age') >= warning * HORIZON);
    return {
      faults: old.slice(0, FAULT_LIMIT).map((row) => fault(row, critical)),
      okLine: `The oldest transaction id is ${grouped(oldest)} transactions old, ${percent(oldest / HORIZON)} of the way to the wraparound.`,
      truncated: old.length > FAULT_LIMIT,
    };
  },
};

function fault(row: Row, critical: number): Fault {
  const database = textIn(row, 'database');
  const age = numberIn(row, 'age');
  const freeze = 'VACUUM (FREEZE);';
  return {
    severity: age >= critical * HORIZON ? 'critical' : 'warning',
    object: database,
    metricLine: `Database ${database}: its oldest transaction id is ${grouped(age)} transactions old, ${percent(age / HORIZON)} of the way to the wraparound; connect to this database and freeze its rows.`,
    remediation:
      row['datallowconn'] === true
        ? freeze
        : `ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS true; ${freeze} ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS false;`,
  };
}
