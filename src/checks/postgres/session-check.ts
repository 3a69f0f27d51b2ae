import type { Check, Skipped } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, faultMeasure, listHighest } from '../worst-measures.ts';
import { dumpSessions, isDump, nameSessions } from './backups.ts';
import { isOlder, LOCK_WAITS, ownTime } from './lock-waits.ts';
import { IS_MAINTENANCE, IS_NO_MAINTENANCE } from './maintenance.ts';

/** Age in seconds at which a session is a fault: 30 min, far longer than an application's request. */
const SESSION_AGES = { warning_seconds: 30 * 60 };

/** What differs between the checks of sessions that have been in a state too long. */
interface SessionCheck extends Pick<Check, 'id' | 'title'> {
  /** Column of pg_stat_activity: when the session entered the state. */
  since: 'state_change' | 'query_start' | 'xact_start';
  states: readonly string[];
  /** What such a session does, after "1 session" or "3 sessions": `idle in transaction`. */
  doing: string;
  /** The metric of the oldest session's age, such as `longest_transaction_seconds`. */
  metric: string;
  advice: string;
  /** `sessions` is the condition after WHERE that selects the faulty sessions. */
  remediation: (sessions: string, row: Row) => string;
  passMessage: string;
  /** What to say of a backup, which is such a session for hours. Absent if another check names it. */
  ofBackups?: { advice: string; remediation: (sessions: string) => string };
  /** What to say of maintenance, such as VACUUM. Absent if another check names it, or such a session does none. */
  ofMaintenance?: { advice: string; remediation: (sessions: string) => string };
  /** If not 30 min. */
  thresholds?: typeof SESSION_AGES;
}

/**
 * A check with a finding for each database, role and application whose oldest session is too old. The object has no pid
 * and no query text: they change from run to run, and the text may contain personal data. What a session waits for is no
 * fault of its own.
 */
export function sessionCheck(check: SessionCheck): Check<typeof SESSION_AGES> {
  const { id, title, doing, metric, passMessage, thresholds = SESSION_AGES } = check;
  return {
    id,
    title,
    category: 'connections',
    maxSeverity: 'warning',
    volatile: true,
    scope: 'server',
    thresholds,
    sql: () => statement(check),
    judge: (rows, facts) => {
      const { warning_seconds } = facts.thresholds;
      const first = onlyRow(rows.slice(0, 1));
      const unseen = unseenSessions(first);
      if (unseen) return unseen;

      const scale = atLeast(metric, warning_seconds);
      const ages: { object: string; value: number }[] = [];
      const faults: Fault[] = [];
      const near: string[] = [];
      for (const row of rows.filter(({ age }) => age !== null)) {
        const age = numberIn(row, 'age');
        const [database, role, application] = [
          textIn(row, 'database'),
          textIn(row, 'role'),
          textIn(row, 'application'),
        ];
        const object = nameKind(row, `${database}/${role}/${application}`);
        ages.push({ object, value: age });
        if (age < warning_seconds) {
          if (age >= 0.9 * warning_seconds) near.push(object);
          continue;
        }
        const guidance = adviceOn(check, row, warning_seconds);
        faults.push({
          severity: 'warning',
          object,
          metricLine: `Role ${role}, application ${application}, database ${database}: ${counted(older(row, warning_seconds), 'session')} ${doing}, the oldest for ${duration(age)}; ${guidance.advice}.`,
          remediation: guidance.remediation,
          measured: faultMeasure({ ...scale, object, value: age }),
        });
      }
      return {
        faults: faults.slice(0, FAULT_LIMIT),
        passMessage,
        measures: listHighest(scale, ages),
        near,
        truncated: faults.length + near.length > FAULT_LIMIT,
      };
    },
  };
}

/** The object of sessions: backups and maintenance are apart from what else has their names. */
function nameKind(row: Row, sessions: string): string {
  const name = nameSessions(sessions, row['backup'] === true);
  return row['maintenance'] === true ? `${name} (maintenance)` : name;
}

/** What to say of sessions that are `seconds` old. */
function adviceOn(check: SessionCheck, row: Row, seconds: number): { advice: string; remediation: string } {
  const { since, states, advice, remediation, ofBackups, ofMaintenance } = check;
  const isMaintenance = row['maintenance'] === true;
  const sessions = `${textIn(row, 'of_them')} AND ${isIn(states)} AND ${isOlder(since, seconds, isBusy(states))}${apart(states, isMaintenance)}`;
  const own = isMaintenance ? ofMaintenance : row['backup'] === true ? ofBackups : undefined;
  return {
    advice: own?.advice ?? advice,
    remediation: own?.remediation(sessions) ?? remediation(sessions, row),
  };
}

/** The oldest session of each database, role and application. */
function statement({ since, states, ofBackups, ofMaintenance }: SessionCheck): string {
  return `
  with ${LOCK_WAITS}, ${dumpSessions()}
  select pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me,
         session.*
    from (select) one_row
    left join (
      select quote_ident(datname) as database,
             quote_ident(rolname) as role,
             quote_ident(application_name) as application,
             format('datname = %L AND usename = %L AND application_name = %L',
                    datname, rolname, application_name) as of_them,
             backup,
             maintenance,
             max(age) as age,
             array_agg(age) as ages
        from (select s.*, coalesce(usename, '') as rolname, ${isDump('s')} as backup,
                     ${isBusy(states) ? IS_MAINTENANCE : 'false'} as maintenance,
                     ${ownTime(since)} as age
                from pg_stat_activity s) activity
       where backend_type = 'client backend'
         ${ofBackups ? '' : 'and not backup'}
         ${ofMaintenance ? '' : 'and not maintenance'}
         and ${isIn(states)}
         and pid <> pg_backend_pid()
       group by datname, rolname, application_name, backup, maintenance
       order by age desc
       limit ${FAULT_LIMIT + 1}
    ) session on true`;
}

const isBusy = (states: readonly string[]) => states.includes('active');

/** Keeps the statement about some sessions from those of the same name that do maintenance, and the other way round. */
function apart(states: readonly string[], isMaintenance: boolean): string {
  if (!isBusy(states)) return '';
  return ` AND ${isMaintenance ? IS_MAINTENANCE : IS_NO_MAINTENANCE}`;
}

function isIn(states: readonly string[]): string {
  return `state in (${states.map((state) => `'${state}'`).join(', ')})`;
}

function older(row: Row, seconds: number): number {
  const { ages } = row;
  return Array.isArray(ages) ? ages.filter((age) => age >= seconds).length : 0;
}

/** Why other roles' sessions can't be judged: PostgreSQL silently hides their state from a role that lacks the GRANT. */
export function unseenSessions(row: Row): Skipped | undefined {
  if (row['sees_all'] === true) return undefined;
  return { skipped: 'Not measured: the sessions of other roles are hidden.', grant: grantMonitor(row) };
}

/** The GRANT that shows other roles' sessions; `me` in the row is the role, quoted. */
export function grantMonitor(row: Row): string {
  return `GRANT pg_monitor TO ${textIn(row, 'me')};`;
}
