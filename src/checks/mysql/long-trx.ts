import { numberIn } from '../columns.ts';
import { counted, duration } from '../wording.ts';
import {
  innodbNow,
  ofThem,
  PROCESS,
  SESSION_LIMIT,
  SESSIONLESS,
  sessionCheck,
  sessionOf,
  transactions,
  who,
} from './session-check.ts';

const sql = `
  select ${sessionOf('trx')},
         timestampdiff(microsecond, trx.trx_started, ${innodbNow}) / 1e6 as age
    from information_schema.innodb_trx trx
    left join information_schema.processlist p on p.id = trx.trx_mysql_thread_id
   where (p.id is not null or trx.trx_mysql_thread_id = 0)
     and trx.trx_mysql_thread_id <> connection_id()
   order by trx.trx_started
   limit ${SESSION_LIMIT + 1}`;

/** InnoDB transactions that stay open too long, busy or idle: 1 and 4 h, dbvitals' own values. */
export const longTrx = sessionCheck({
  id: 'MY_LONG_TRX',
  title: 'Long-running transaction',
  category: 'transactions',
  thresholds: { warning_seconds: 3600, critical_seconds: 4 * 3600 },
  privilege: PROCESS,
  sql: () => [transactions, sql],
  fault: (sessions) => {
    const [oldest = {}] = sessions;
    const age = duration(numberIn(oldest, 'age'));
    const open = `${counted(sessions.length, 'transaction')} open, the oldest for ${age}`;
    if (oldest['object'] === SESSIONLESS) {
      return {
        metricLine: `Without a session: ${open}; commit or roll back a prepared XA transaction, wait for one that is rolling back after a crash.`,
        remediation: `XA RECOVER; -- then XA ROLLBACK or XA COMMIT each listed transaction`,
      };
    }
    return {
      metricLine: `${who(oldest)}: ${open}; commit it or end it.`,
      remediation: `SELECT concat('KILL ', id, ';') AS statement, trx_started FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE ${ofThem(oldest)} AND id <> connection_id() ORDER BY trx_started; -- run what it prints for those that are too old`,
    };
  },
  passMessage: 'No transaction has been open for long.',
  metric: 'longest_transaction_seconds',
  countMetric: 'long_transactions_count',
});
