import type { Check, Fault, Row, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import { literal } from './quote.ts';

/** Only so many rows of sessions are read, the oldest first. */
export const SESSION_LIMIT = 1_000;

/**
 * The time on the clock by which InnoDB writes trx_started and trx_wait_started: that of the machine, whatever the
 * session's time_zone. When clocks change it is an hour off for what began before.
 */
export const innodbNow = `convert_tz(utc_timestamp(6), '+00:00', 'SYSTEM')`;

/** Raises an error without PROCESS, and gives a row with it; `limit 0` or an exists would not ask for the privilege. */
export const transactions = 'select count(*) as transactions from information_schema.innodb_trx';

/** What a transaction of no session is called: prepared by XA, or being rolled back since a crash. */
export const SESSIONLESS = 'transaction without a session';

/** Columns of a session (of processlist `p`) whose transaction is `trx`: what it is called, and what selects its like. */
export const sessionOf = (trx: string) => `
         case when ${trx}.trx_mysql_thread_id = 0 then '${SESSIONLESS}'
              else concat(coalesce(p.db, ''), '/', p.user) end as object,
         p.user as user_name,
         p.db as db_name`;

type Ages = { warning_seconds: number; critical_seconds: number };

/** What differs between the checks of sessions that have been at something for too long. */
interface SessionCheck extends Pick<Check, 'id' | 'title' | 'category' | 'sql' | 'privilege'> {
  thresholds: Ages;
  /** Why this server can't be judged, the end of a sentence; undefined where it can. */
  absent?: (first: Row) => string | undefined;
  /** Thresholds that the server's own settings make lower. */
  lowered?: (ages: Ages, first: Row) => Ages;
  /** The fault of one object; `sessions` are its rows that are old enough, the oldest first; `rows` are all. */
  fault: (sessions: Row[], facts: ServerFacts, rows: Row[]) => Pick<Fault, 'metricLine' | 'remediation'>;
  passMessage: string;
}

/**
 * A check with a finding for each `database/user` whose oldest session is too old: no thread id, no query text. Its
 * statements give a row that always comes, then a row a session with `object` and `age` (seconds), the oldest first.
 */
export function sessionCheck({ absent, lowered, fault, passMessage, ...check }: SessionCheck): Check<Ages> {
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
      for (const [object, group] of Map.groupBy(sessions, (row) => textIn(row, 'object'))) {
        const age = Math.max(...group.map((row) => numberIn(row, 'age')));
        const old = group.filter((row) => numberIn(row, 'age') >= warning_seconds);
        const severity = age >= critical_seconds ? 'critical' : 'warning';
        if (old.length > 0) faults.push({ severity, object, ...fault(old, facts, rows) });
        else if (age >= 0.9 * warning_seconds) near.push(object);
      }
      const last = sessions[SESSION_LIMIT];
      const cut = last !== undefined && numberIn(last, 'age') >= 0.9 * warning_seconds;
      return {
        faults: faults.slice(0, FAULT_LIMIT),
        passMessage,
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

/** What follows WHERE to select the sessions of processlist like that of a row of {@link sessionOf}. */
export function ofThem(row: Row): string {
  const database = textOrNone(row, 'db_name');
  return `user = ${literal(textIn(row, 'user_name'))} AND db ${database === undefined ? 'IS NULL' : `= ${literal(database)}`}`;
}

/** What a check of sessions and locks has to be granted. */
export const PROCESS = () => 'PROCESS ON *.*';

/** The same with what performance_schema tells of locks. */
export const PROCESS_AND_LOCKS = () => ['PROCESS ON *.*', 'SELECT ON performance_schema.*'];
