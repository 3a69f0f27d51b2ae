import { numberIn } from '../columns.ts';
import { counted, duration } from '../wording.ts';
import { isMariaDb } from './flavour.ts';
import {
  innodbNow,
  ofThem,
  PROCESS,
  PROCESS_AND_LOCKS,
  SESSION_LIMIT,
  SESSIONLESS,
  sessionCheck,
  sessionOf,
  transactions,
  who,
} from './session-check.ts';

/** The table in which a flavour shows which session waits for which. */
interface Source {
  table: string;
  requesting: string;
  blocking: string;
}

const SOURCES: Record<'mariadb' | 'mysql', Source> = {
  mariadb: {
    table: 'information_schema.innodb_lock_waits',
    requesting: 'requesting_trx_id',
    blocking: 'blocking_trx_id',
  },
  mysql: {
    table: 'performance_schema.data_lock_waits',
    requesting: 'requesting_engine_transaction_id',
    blocking: 'blocking_engine_transaction_id',
  },
};

const sourceOf = (version: number) => SOURCES[isMariaDb(version) ? 'mariadb' : 'mysql'];

/** A derived table, which the optimizer keys; a limit keeps it from being merged into the join, 5 s with 400 waiters. */
const derived = (columns: string, which: string) => `(
           select trx_id, trx_mysql_thread_id, ${columns}
             from information_schema.innodb_trx
            where trx_wait_started ${which}
            limit 1000000)`;

const requests = derived('trx_wait_started', 'is not null');

// One that waits itself is no cause. MySQL is asked from the waiters on, so that where nobody waits no lock is looked at.
const sql = (version: number, { table, requesting, blocking }: Source) => `
  select distinct ${sessionOf('b')},
         r.trx_mysql_thread_id as waiter,
         timestampdiff(microsecond, r.trx_wait_started, ${innodbNow}) / 1e6 as age
    from ${isMariaDb(version) ? `${table} w straight_join ${requests} r` : `${requests} r straight_join ${table} w`}
      on w.${requesting} = r.trx_id
    straight_join ${derived('trx_state', 'is null')} b on b.trx_id = w.${blocking}
    left join information_schema.processlist p on p.id = b.trx_mysql_thread_id
   where p.id is not null or b.trx_mysql_thread_id = 0
   order by age desc
   limit ${SESSION_LIMIT + 1}`;

// With performance_schema off MySQL shows no locks; MariaDB has them in information_schema.
const settings = (version: number) => `
  select @@global.innodb_lock_wait_timeout as timeout,
         ${isMariaDb(version) ? 1 : '@@global.performance_schema'} as told`;

/** Sessions that hold an InnoDB lock for which others have been waiting: 60 and 300 s. */
export const lockWaits = sessionCheck({
  id: 'MY_LOCK_WAITS',
  title: 'Session that blocks others',
  category: 'locks',
  thresholds: { warning_seconds: 60, critical_seconds: 300 },
  absent: (first) =>
    numberIn(first, 'told') === 0
      ? 'with performance_schema off MySQL does not show which session waits for which'
      : undefined,
  // By default a wait ends after 50 s and is retried: no wait would ever be 60 s old.
  lowered: (ages, first) => ({
    ...ages,
    warning_seconds: Math.min(ages.warning_seconds, numberIn(first, 'timeout') / 2),
  }),
  privilege: (version) => (isMariaDb(version) ? PROCESS() : PROCESS_AND_LOCKS()),
  sql: (version) => [settings(version), transactions, sql(version, sourceOf(version))],
  fault: (sessions, { version }) => {
    const [oldest = {}] = sessions;
    const held = `${counted(new Set(sessions.map(({ waiter }) => waiter)).size, 'session')} for ${duration(numberIn(oldest, 'age'))}`;
    if (oldest['object'] === SESSIONLESS) {
      return {
        metricLine: `A transaction without a session has blocked ${held}; if it is a prepared XA transaction, commit it or roll it back.`,
        remediation: `XA RECOVER; -- then XA ROLLBACK or XA COMMIT each listed transaction`,
      };
    }
    const { table, blocking } = sourceOf(version);
    return {
      metricLine: `${who(oldest)}: its locks have blocked ${held}; end the transaction, and keep transactions short.`,
      remediation: `SELECT concat('KILL ', id, ';') AS statement FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE trx_wait_started IS NULL AND trx_id IN (SELECT ${blocking} FROM ${table}) AND ${ofThem(oldest)}; -- run what it prints`,
    };
  },
  passMessage: 'No session has been waiting for a lock for long.',
  metric: 'longest_lock_wait_seconds',
  countMetric: 'long_lock_waits_count',
});
