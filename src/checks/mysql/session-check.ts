import type { Check, Fault, Row, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import { countOf, faultMeasure, highestOf } from '../worst-measures.ts';
import { exactly } from './quote.ts';

/** The most session rows to read, the oldest first. */
export const SESSION_LIMIT = 1_000;

/**
 * The current time as InnoDB writes trx_started and trx_wait_started: in the machine's time zone, whatever the
 * session's time_zone. After a clock change it is an hour off for what began before.
 */
export const innodbNow = `convert_tz(utc_timestamp(6), '+00:00', 'SYSTEM')`;

/** Raises an error without PROCESS, and gives a row with it; `limit 0` or `exists` would not check the privilege. */
export const transactions = 'select count(*) as transactions from information_schema.innodb_trx';

/** The object of transactions without a session: prepared by XA, or rolling back after a crash. */
export const SESSIONLESS = 'transaction without a session';

/** Columns of a session (of processlist `p`) whose transaction is `trx`: its object, user and database. */
export const sessionOf = (trx: string) => `
         case when ${trx}.trx_mysql_thread_id = 0 then '${SESSIONLESS}'
              else concat(coalesce(p.db, ''), '/', p.user) end as object,
         p.user as user_name,
         p.db as db_name`;

type Ages = { warning_seconds: number; critical_seconds: number };

/** What differs between the checks of sessions that have been busy with something too long. */
interface SessionCheck extends Pick<Check, 'id' | 'title' | 'category' | 'sql' | 'privilege'> {
  thresholds: Ages;
  /** Why this server can't be judged, as the end of a sentence; undefined if it can. */
  absent?: (first: Row) => string | undefined;
  /** Thresholds lowered by the server's own settings. */
  lowered?: (ages: Ages, first: Row) => Ages;
  /** The fault of one object; `sessions` are its rows that are old enough, the oldest first; `rows` are all. */
  fault: (sessions: Row[], facts: ServerFacts, rows: Row[]) => Pick<Fault, 'metricLine' | 'remediation'>;
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
  const { absent, lowered, fault, passMessage, metric, countMetric, ...check } = given;
  return {
    ...check,
    maxSeverity: 'critical',
    volatile: true,
    scope: 'server',
    judge: (rows, facts) => {
      const first = onlyRow(rows.slice(0, 1));
      const reason = absent?.(first);
      if (reason !== undefined) return { skipped: `Not measured: ${reason}.` };
      const ages = facts.thresholds;
      const { warning_seconds, critical_seconds } = lowered?.(ages, first) ?? ages;
      const sessions = rows.filter((row) => 'object' in row && 'age' in row);
      const faults: Fault[] = [];
      const near: string[] = [];
      const scale = { metric, operator: '>=', warning: warning_seconds, critical: critical_seconds } as const;
      const oldest: { object: string; value: number }[] = [];
      for (const [object, group] of Map.groupBy(sessions, (row) => textIn(row, 'object'))) {
        const age = Math.max(...group.map((row) => numberIn(row, 'age')));
        const old = group.filter((row) => numberIn(row, 'age') >= warning_seconds);
        const severity = age >= critical_seconds ? 'critical' : 'warning';
        const measured = () => faultMeasure({ ...scale, object, value: age });
        oldest.push({ object, value: age });
        if (old.length > 0)
          faults.push({ severity, object, ...fault(old, facts, rows), measured: measured() });
        else if (age >= 0.9 * warning_seconds) near.push(object);
      }
      const last = sessions[SESSION_LIMIT];
      const cut = last !== undefined && numberIn(last, 'age') >= 0.9 * warning_seconds;
      return {
        faults: faults.slice(0, FAULT_LIMIT),
        passMessage,
        measures: [
          ...highestOf(scale, oldest),
          countOf(countMetric, sessions.filter((row) => numberIn(row, 'age') >= warning_seconds).length),
        ],
        near,
        truncated: cut || faults.length > FAULT_LIMIT,
      };
    },
  };
}

/** `User app, database shop`, of a row of {@link sessionOf}. */
export function who(row: Row): string {
  const database = textOrNone(row, 'db_name');
  return `User ${textIn(row, 'user_name')}${database === undefined ? '' : `, database ${database}`}`;
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
