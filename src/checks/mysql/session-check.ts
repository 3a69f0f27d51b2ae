import type { Check, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { countOf, faultMeasure, listHighest } from '../worst-measures.ts';
import { BACKUP_COLUMNS, backupIn, backupSteps } from './backups.ts';
import { exactly } from './quote.ts';
import { shownText } from './server-texts.ts';

/** The most session rows to read, the oldest first. */
export const SESSION_LIMIT = 1_000;

/** Raises an error without PROCESS, and gives a row with it; `limit 0` or `exists` would not check the privilege. */
export const transactions = 'select count(*) as transactions from information_schema.innodb_trx';

/** The object of transactions without a session: prepared by XA, or rolling back after a crash. */
export const SESSIONLESS = 'transaction without a session';

/** What to do about prepared transactions that have no session. */
export const END_PREPARED = 'XA RECOVER; -- then XA ROLLBACK or XA COMMIT each listed transaction';

/** Columns of a session (of processlist `p`) whose transaction is `trx`: its object, user and database, and whether it is a backup. */
export const sessionOf = (trx: string) => `
         case when ${trx}.trx_mysql_thread_id = 0 then '${SESSIONLESS}'
              else concat(coalesce(p.db, ''), '/', p.user) end as object,
         p.user as user_name,
         p.db as db_name,
         ${BACKUP_COLUMNS}`;

/** Ages in seconds. A check without a critical one is never more than a warning. */
type Ages = { warning_seconds: number; critical_seconds?: number };

/** What differs between the checks of sessions that have been busy with something too long. */
interface SessionCheck extends Pick<Check, 'id' | 'title' | 'category' | 'sql' | 'privilege'> {
  thresholds: Ages;
  /** Why this server can't be judged, as the end of a sentence; undefined if it can. */
  absent?: (first: Row) => string | undefined;
  /** Thresholds lowered by the server's own settings. */
  lowered?: (ages: Ages, first: Row) => Ages;
  /** The fault of one object; `sessions` are its rows that are old enough, the oldest first; `rows` are all. */
  fault: (sessions: Row[], facts: ServerFacts, rows: Row[]) => Pick<Fault, 'metricLine' | 'remediation'>;
  /** The rows are of sessions that may be backups: those are objects of their own, with this fault. */
  backupFault?: (
    backup: string,
    sessions: Row[],
    facts: ServerFacts,
  ) => Pick<Fault, 'metricLine' | 'remediation'>;
  passMessage: string;
  /** The metric of the oldest session's age, such as `longest_transaction_seconds`. */
  metric: string;
  /** The metric of how many sessions are too old. */
  countMetric: string;
}

/**
 * A check with a finding for each `database/user` whose oldest session is too old, without thread id or query text. Its
 * statements always give one row, then a row per session with `object` and `age` (seconds), the oldest first.
 */
export function sessionCheck(given: SessionCheck): Check<Ages> {
  const { absent, lowered, fault, backupFault, passMessage, metric, countMetric, ...check } = given;
  const loweredAges = (ages: Ages, rows: readonly Row[]) => lowered?.(ages, rows[0] ?? {}) ?? ages;
  return {
    ...check,
    maxSeverity: check.thresholds.critical_seconds === undefined ? 'warning' : 'critical',
    volatile: true,
    scope: 'server',
    steps: ({ thresholds }) =>
      backupSteps((rows) => rows.some((row) => isOld(row, loweredAges(thresholds, rows).warning_seconds))),
    judge: (rows, facts) => {
      const first = onlyRow(rows.slice(0, 1));
      const reason = absent?.(first);
      if (reason !== undefined) return { skipped: `Not measured: ${reason}.` };
      const { warning_seconds, critical_seconds = null } = loweredAges(facts.thresholds, rows);
      const sessions = rows.filter((row) => 'object' in row && 'age' in row);
      const findBackup = (row: Row) => backupFault && backupIn(rows, row['thread'], row['dumps']);
      const nameObject = (row: Row) =>
        findBackup(row) === undefined
          ? textIn(row, 'object')
          : `${shownText('user_name', textIn(row, 'user_name'))} (backup)`;
      const faults: Fault[] = [];
      const near: string[] = [];
      const scale = { metric, operator: '>=', warning: warning_seconds, critical: critical_seconds } as const;
      const oldest: { object: string; value: number }[] = [];
      for (const [object, group] of Map.groupBy(sessions, nameObject)) {
        const age = Math.max(...group.map((row) => numberIn(row, 'age')));
        oldest.push({ object, value: age });
        const old = group.filter((row) => isOld(row, warning_seconds));
        const [oldestSession] = old;
        if (!oldestSession) {
          if (age >= 0.9 * warning_seconds) near.push(object);
          continue;
        }
        const backup = findBackup(oldestSession);
        faults.push({
          severity: critical_seconds !== null && age >= critical_seconds ? 'critical' : 'warning',
          object,
          ...(backupFault && backup !== undefined
            ? backupFault(backup, old, facts)
            : fault(old, facts, rows)),
          measured: faultMeasure({ ...scale, object, value: age }),
        });
      }
      const last = sessions[SESSION_LIMIT];
      const cut = last !== undefined && isOld(last, 0.9 * warning_seconds);
      const count = sessions.filter((row) => isOld(row, warning_seconds)).length;
      return {
        faults: faults.slice(0, FAULT_LIMIT),
        passMessage,
        measures: [...listHighest(scale, oldest), countOf(countMetric, count)],
        near,
        truncated: cut || faults.length > FAULT_LIMIT,
      };
    },
  };
}

function isOld(row: Row, seconds: number): boolean {
  return 'age' in row && numberIn(row, 'age') >= seconds;
}

/** Whether a session (a row of {@link sessionOf}) applies what a source of replication sends: KILL would stop that. */
export function isApplier(row: Row): boolean {
  return row['user_name'] === 'system user';
}

/** `User app, database shop`, of a row of {@link sessionOf}. */
export function who(row: Row): string {
  const database = textOrNone(row, 'db_name');
  const user = shownText('user_name', textIn(row, 'user_name'));
  return `User ${user}${database === undefined ? '' : `, database ${shownText('db_name', database)}`}`;
}

/** The condition after WHERE that selects the sessions of processlist with the same user and database. */
export function ofThem(row: Row): string {
  const database = textOrNone(row, 'db_name');
  return `user = ${exactly(textIn(row, 'user_name'))} AND db ${database === undefined ? 'IS NULL' : `= ${exactly(database)}`}`;
}

/** The privilege that a check of sessions and locks needs. */
export const PROCESS = () => 'PROCESS ON *.*';

/** The same, with the locks in performance_schema. */
export const PROCESS_AND_LOCKS = () => ['PROCESS ON *.*', 'SELECT ON performance_schema.*'];
