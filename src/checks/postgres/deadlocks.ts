import { numberIn, textIn } from '../columns.ts';
import { counted, grouped } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { countedFrom, counterCheck, total } from './counter-check.ts';

/** Deadlocks a minute, as in the common Prometheus rules for PostgreSQL. */
const thresholds = { warning_per_minute: 5 };

const sql = `
  select quote_ident(datname) as object,
         deadlocks::float8 as deadlocks,
         ${countedFrom}
    from pg_stat_database
   where datid <> 0
   order by datname`;

/** Databases with frequent deadlocks. */
export const deadlocks = counterCheck({
  id: 'PG_DEADLOCKS',
  title: 'Many deadlocks',
  category: 'performance',
  maxSeverity: 'warning',
  thresholds,
  sql: () => sql,
  counters: ['deadlocks'],
  measure: (grown, minutes, { thresholds: { warning_per_minute } }) => ({
    ...atLeast('deadlocks_per_second', warning_per_minute / 60),
    object: textIn(grown, 'object'),
    value: numberIn(grown, 'deadlocks') / minutes / 60,
  }),
  fault: (grown, minutes, facts) => {
    const { warning_per_minute } = facts.thresholds;
    const database = textIn(grown, 'object');
    const count = numberIn(grown, 'deadlocks');
    if (count / minutes < warning_per_minute) return null;
    return {
      severity: 'warning',
      object: database,
      metricLine: `Database ${database}: ${counted(count, 'deadlock')} since the last run, ${grouped(count / minutes)} a minute; make all transactions lock rows in the same order.`,
      remediation: `SELECT pg_current_logfile(); -- the server's log names the statements of each deadlock: make them lock rows in the same order`,
    };
  },
  passMessage: (grown) => `${counted(total(grown, 'deadlocks'), 'deadlock')} since the last run.`,
});
