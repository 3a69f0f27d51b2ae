import { numberIn } from '../columns.ts';
import { counted, duration } from '../wording.ts';
import { LET_BACKUP_END, NO_DUMP } from './backups.ts';
import { isOlder, ownTime } from './own-time.ts';
import { showStatus } from './replica-status.ts';
import {
  END_PREPARED,
  isApplier,
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
         ${ownTime} as age
    from information_schema.innodb_trx trx
    left join information_schema.processlist p on p.id = trx.trx_mysql_thread_id
   where (p.id is not null or trx.trx_mysql_thread_id = 0)
     and trx.trx_mysql_thread_id <> connection_id()
   order by age desc
   limit ${SESSION_LIMIT + 1}`;

/** The transactions of the sessions with the user and database of a row. */
const oldOnes = (columns: string, row: Parameters<typeof ofThem>[0], seconds: number) =>
  `SELECT ${columns} FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE ${ofThem(row)} AND id <> connection_id() AND ${isOlder(seconds)}`;

/** InnoDB transactions that stay open too long, busy or idle: 1 h, dbvitals' own value. */
export const longTrx = sessionCheck({
  id: 'MY_LONG_TRX',
  title: 'Long-running transaction',
  category: 'transactions',
  thresholds: { warning_seconds: 3600 },
  privilege: PROCESS,
  sql: () => [transactions, sql],
  fault: (sessions, { version, thresholds }) => {
    const [oldest = {}] = sessions;
    const open = openFor(sessions);
    if (oldest['object'] === SESSIONLESS) {
      return {
        metricLine: `Without a session: ${open}; commit or roll back a prepared XA transaction, wait for one that is rolling back after a crash.`,
        remediation: END_PREPARED,
      };
    }
    if (isApplier(oldest)) {
      return {
        metricLine: `Replication on this server: ${open}; it applies a transaction of the source: let it end, and change rows in small batches there.`,
        remediation: `${showStatus(version)}; -- then wait until it has applied the transaction; if an error stopped it, mend that`,
      };
    }
    const { warning_seconds = 0 } = thresholds;
    return {
      metricLine: `${who(oldest)}: ${open}; commit it or end it.`,
      remediation: `${oldOnes("concat('KILL ', id, ';') AS statement, trx_started", oldest, warning_seconds)} AND ${NO_DUMP} ORDER BY trx_started; -- run what it prints for those that are too old`,
    };
  },
  backupFault: (backup, sessions, { thresholds: { warning_seconds = 0 } }) => {
    const [oldest = {}] = sessions;
    return {
      metricLine: `${who(oldest)}: ${openFor(sessions)}; it is ${backup}: let it end, and take long ones from a replica, because InnoDB keeps every old row version since it began.`,
      remediation: `${oldOnes('id, user, db, state, trx_started', oldest, warning_seconds)} ORDER BY trx_started; ${LET_BACKUP_END}`,
    };
  },
  passMessage: 'No transaction has been open for long.',
  metric: 'longest_transaction_seconds',
  countMetric: 'long_transactions_count',
});

function openFor(sessions: Record<string, unknown>[]): string {
  const [oldest = {}] = sessions;
  return `${counted(sessions.length, 'transaction')} open, the oldest for ${duration(numberIn(oldest, 'age'))}`;
}
