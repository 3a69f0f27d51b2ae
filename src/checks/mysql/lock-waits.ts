import { numberIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import { counted, duration } from '../wording.ts';
import { LET_BACKUP_END } from './backups.ts';
import { isMariaDb } from './flavour.ts';
import { innodbNow, waitsForMetadata } from './own-time.ts';
import { showStatus } from './replica-status.ts';
import {
  END_PREPARED,
  isApplier,
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

// One that waits itself is no cause, for a metadata lock neither: MY_MDL_WAIT names who holds that. MySQL is asked from the waiters on, so that where nobody waits no lock is looked at.
const sql = (version: number, { table, requesting, blocking }: Source) => `
  select distinct ${sessionOf('b')},
         r.trx_mysql_thread_id as waiter,
         coalesce(p.command = 'Sleep', 0) as idle,
         timestampdiff(microsecond, r.trx_wait_started, ${innodbNow}) / 1e6 as age
    from ${isMariaDb(version) ? `${table} w straight_join ${requests} r` : `${requests} r straight_join ${table} w`}
      on w.${requesting} = r.trx_id
    straight_join ${derived('trx_state', 'is null')} b on b.trx_id = w.${blocking}
    left join information_schema.processlist p on p.id = b.trx_mysql_thread_id
   where (p.id is not null and not ${waitsForMetadata('p.state')}) or b.trx_mysql_thread_id = 0
   order by age desc
   limit ${SESSION_LIMIT + 1}`;

// With performance_schema off MySQL shows no locks; MariaDB has them in information_schema.
const settings = (version: number) => `
  select @@global.innodb_lock_wait_timeout as timeout,
         ${isMariaDb(version) ? 1 : '@@global.performance_schema'} as told`;

/** Sessions that hold an InnoDB lock for which others have been waiting: 30 and 120 s. */
export const lockWaits = sessionCheck({
  id: 'MY_LOCK_WAITS',
  title: 'Session that blocks others',
  category: 'locks',
  thresholds: { warning_seconds: 30, critical_seconds: 120 },
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
    const held = heldUp(sessions);
    if (oldest['object'] === SESSIONLESS) {
      return {
        metricLine: `A transaction without a session has blocked ${held}; if it is a prepared XA transaction, commit it or roll it back.`,
        remediation: END_PREPARED,
      };
    }
    if (isApplier(oldest)) {
      return {
        metricLine: `Replication on this server has blocked ${held}; it applies a transaction of the source: let it end, and write nothing here that it writes too.`,
        remediation: `${showStatus(version)}; -- then wait until it has applied the transaction, or end the sessions that write here`,
      };
    }
    return {
      metricLine: `${who(oldest)}${Number(oldest['idle']) === 1 ? ', idle in transaction' : ''}: its locks have blocked ${held}; end the transaction, and keep transactions short.`,
      remediation: killBlockers(version, ` AND ${ofThem(oldest)}`),
    };
  },
  backupFault: (backup, sessions, { version }) => {
    const [oldest = {}] = sessions;
    return {
      metricLine: `${who(oldest)}: ${backup} has blocked ${heldUp(sessions)}; let it end, or cancel what waits for it.`,
      remediation: `SELECT id, user, db, state, trx_started FROM ${blockers(version)} AND ${ofThem(oldest)}; ${LET_BACKUP_END}`,
    };
  },
  passMessage: 'No session has been waiting for a lock for long.',
  metric: 'longest_lock_wait_seconds',
  countMetric: 'long_lock_waits_count',
});

/** How many sessions wait for those of these rows, and how long. */
function heldUp(sessions: Row[]): string {
  const [oldest = {}] = sessions;
  const waiters = new Set(sessions.map(({ waiter }) => waiter));
  return `${counted(waiters.size, 'session')} for ${duration(numberIn(oldest, 'age'))}`;
}

/** What to select sessions from that hold row locks for which others wait, and do not wait themselves. */
function blockers(version: number): string {
  const { table, blocking } = sourceOf(version);
  return `information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE trx_wait_started IS NULL AND trx_id IN (SELECT ${blocking} FROM ${table})`;
}

/** The statement that prints how to end those sessions; `condition` limits it to some of them. */
export function killBlockers(version: number, condition = ''): string {
  return `SELECT concat('KILL ', id, ';') AS statement FROM ${blockers(version)}${condition}; -- run what it prints`;
}
