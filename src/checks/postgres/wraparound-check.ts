import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { grouped, percent } from '../wording.ts';
import { atLeast, faultMeasure, worstOf } from '../worst-measures.ts';

/** Shares of the 2^31 ids after which PostgreSQL refuses to write; autovacuum acts at 9 % (multixacts 19 %) by default. */
const thresholds = { warning: 0.5, critical: 0.8 };
const HORIZON = 2 ** 31;

/** What differs between the two kinds of ids that can wrap around. */
interface WraparoundCheck extends Pick<Check, 'id' | 'title'> {
  /** Expression over pg_database: how many ids ago the database's oldest one was assigned. */
  age: string;
  /** The id in words: `transaction id`. */
  noun: string;
  /** What it counts: `transactions`. */
  unit: string;
  /** The metric of the age as a share of the 2^31 ids: `transaction_id_age_ratio`. */
  metric: string;
}

/** A check with a finding for each database whose oldest id is near wraparound. */
export function wraparoundCheck({
  age,
  noun,
  unit,
  metric,
  ...named
}: WraparoundCheck): Check<typeof thresholds> {
  const far = (of: number): string =>
    `${grouped(of)} ${unit} old, ${percent(of / HORIZON)} of the way to the wraparound`;

  function measure(row: Row, { warning, critical }: typeof thresholds): Measure {
    const scale = { ...atLeast(metric, warning, critical), limit: 1, grows: true } as const;
    return { ...scale, object: textIn(row, 'database'), value: numberIn(row, 'age') / HORIZON };
  }

  function fault(row: Row, levels: typeof thresholds): Fault {
    const database = textIn(row, 'database');
    const old = numberIn(row, 'age');
    return {
      severity: old >= levels.critical * HORIZON ? 'critical' : 'warning',
      object: database,
      metricLine: `Database ${database}: its oldest ${noun} is ${far(old)}; connect to this database and freeze its rows.`,
      remediation:
        row['datallowconn'] === true
          ? `VACUUM (FREEZE); -- connected to database ${database}`
          : `SELECT datname, age(datfrozenxid), mxid_age(datminmxid) FROM pg_database WHERE NOT datallowconn; -- then run ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS true; connect to it, run VACUUM (FREEZE); and then ALTER DATABASE ${database} WITH ALLOW_CONNECTIONS false;`,
      measured: faultMeasure(measure(row, levels)),
    };
  }

  return {
    ...named,
    category: 'vacuum',
    maxSeverity: 'critical',
    volatile: false,
    scope: 'server',
    thresholds,
    sql: () => `
  select quote_ident(datname) as database,
         ${age}::float8 as age,
         datallowconn
    from pg_database
   where datconnlimit <> -2
   order by age desc`,
    judge: (rows, facts) => {
      const { warning } = facts.thresholds;
      const oldest = Math.max(0, ...rows.map((row) => numberIn(row, 'age')));
      const old = rows.filter((row) => numberIn(row, 'age') >= warning * HORIZON);
      return {
        faults: old.slice(0, FAULT_LIMIT).map((row) => fault(row, facts.thresholds)),
        passMessage: `The oldest ${noun} is ${far(oldest)}.`,
        measures: worstOf(rows.map((row) => measure(row, facts.thresholds))),
        truncated: old.length > FAULT_LIMIT,
      };
    },
  };
}
