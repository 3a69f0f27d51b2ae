import { numberIn, textIn } from '../columns.ts';
import { counted, grouped, percent } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { countedFrom, counterCheck, total } from './counter-check.ts';

/** Share of transactions that were rolled back, and the minimum of transactions; dbvitals' own. */
const thresholds = { info: 0.1, minimum_transactions: 1_000 };

const sql = `
  select quote_ident(datname) as object,
         xact_commit::float8 as committed,
         xact_rollback::float8 as rolled_back,
         ${countedFrom}
    from pg_stat_database
   where datid <> 0
   order by datname`;

/** Databases in which many transactions are rolled back. */
export const rollbackRatio = counterCheck({
  id: 'PG_ROLLBACK_RATIO',
  title: 'Many transactions rolled back',
  category: 'performance',
  maxSeverity: 'info',
  thresholds,
  sql: () => sql,
  counters: ['committed', 'rolled_back'],
  measure: (grown, _minutes, { thresholds: { info, minimum_transactions } }) => {
    const rolledBack = numberIn(grown, 'rolled_back');
    const all = rolledBack + numberIn(grown, 'committed');
    if (all < minimum_transactions || all === 0) return null;
    return {
      ...atLeast('transactions_rolled_back_ratio', info),
      object: textIn(grown, 'object'),
      value: rolledBack / all,
    };
  },
  fault: (grown, _minutes, facts) => {
    const { info, minimum_transactions } = facts.thresholds;
    const database = textIn(grown, 'object');
    const rolledBack = numberIn(grown, 'rolled_back');
    const all = rolledBack + numberIn(grown, 'committed');
    if (all < minimum_transactions || rolledBack / all < info) return null;
    return {
      severity: 'info',
      object: database,
      metricLine: `Database ${database}: ${grouped(rolledBack)} of ${grouped(all)} transactions (${percent(rolledBack / all)}) were rolled back since the last run; look for errors in the applications.`,
      remediation: `SELECT pg_current_logfile(), current_setting('log_min_error_statement'); -- then look for errors of database ${database} in the server's log: it names the statements, unless the setting is above error`,
    };
  },
  passMessage: (grown) => {
    const rolledBack = total(grown, 'rolled_back');
    return `${grouped(rolledBack)} of ${counted(rolledBack + total(grown, 'committed'), 'transaction')} rolled back since the last run.`;
  },
});
