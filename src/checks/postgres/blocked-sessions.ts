import type { Check } from '../check.ts';
import { numberIn, onlyRow, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { FaultMeasure } from '../measure.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, faultMeasure, listHighest } from '../worst-measures.ts';
import { dumpSessions, isDump, nameSessions } from './backups.ts';
import { preparedSteps } from './prepared-xact-old.ts';

/** Seconds that a session has waited for a lock, dbvitals' own values. */
const thresholds = { warning_seconds: 30, critical_seconds: 120 };

/** pg_blocking_pids briefly blocks the lock manager, so the check calls it only for the longest waits. */
const WAITER_LIMIT = 50;

const TARGET = [
  'locktype',
  'database',
  'relation',
  'page',
  'tuple',
  'virtualxid',
  'transactionid',
  'classid',
  'objid',
  'objsubid',
];

/** Expression: what a lock is on. */
const targetOf = (lock: string) => `(${TARGET.map((column) => `${lock}.${column}`).join(', ')})`;

/** Condition: a lock on a standby is one that recovery waits for, to replay what the primary did; no session of a standby asks for such a one. */
const OF_RECOVERY = `pg_is_in_recovery() and not wanted.granted and wanted.mode = 'AccessExclusiveLock'`;

// Blockers, found through the queue: a session that waits itself is not one. A prepared transaction has pid 0: preparer
// is the one that the longest of these waits is for, if no other of them has a lock there. Nothing read here is hidden from
// an ordinary role. pg_blocking_pids does not know for whom recovery waits: for those who hold the relation.
const sql = `
  with recursive lock as materialized (
    select * from pg_locks
  ), waiting as materialized (
    select pid, extract(epoch from clock_timestamp() - min(waitstart))::float8 as age
      from lock
     where not granted
     group by pid
  ), blocked as materialized (
    select pid, age, recovery.by <> '{}' as is_recovery, pg_blocking_pids(pid) || recovery.by as by
      from (select * from waiting where age is not null order by age desc limit ${WAITER_LIMIT}) longest
     cross join lateral (
       select array(select distinct held.pid
                      from lock wanted
                      join lock held on held.granted and held.pid <> wanted.pid
                                    and (held.locktype, held.database, held.relation)
                                          = (wanted.locktype, wanted.database, wanted.relation)
                     where wanted.pid = longest.pid and ${OF_RECOVERY}) as by
     ) recovery
  ), preparer as (
    select case when count(distinct held.virtualtransaction) = 1 then min(held.virtualtransaction) end as holder
      from blocked
      join lock wanted on wanted.pid = blocked.pid and not wanted.granted
      join lock held on held.granted and held.pid is null and held.mode <> 'SIReadLock'
                    and ${targetOf('held')} is not distinct from ${targetOf('wanted')}
     where 0 = any (blocked.by)
     group by blocked.pid, blocked.age
     order by blocked.age desc
     limit 1
  ), chain as (
    select pid, age, unnest(by) as blocker from blocked
    union
    select chain.pid, chain.age, unnest(blocked.by)
      from chain
      join blocked on blocked.pid = chain.blocker
  ), ${dumpSessions('lock')}, cause as (
    select case when chain.blocker = 0 then 'prepared transaction'
                else concat_ws('/', quote_ident(coalesce(a.datname, '')), quote_ident(coalesce(a.usename, '')),
                               quote_ident(a.application_name)) end as object,
           chain.blocker = 0 as prepared,
           format('datname %s AND usename %s AND application_name = %L',
                  coalesce('= ' || quote_literal(a.datname), 'IS NULL'),
                  coalesce('= ' || quote_literal(a.usename), 'IS NULL'), a.application_name) as of_them,
           coalesce(a.backend_type <> 'client backend', a.usename is null) as background,
           ${isDump('a')} as backup,
           coalesce(a.state like 'idle in transaction%', false) as idle,
           chain.pid, chain.age,
           coalesce((select is_recovery from blocked where blocked.pid = chain.pid), false) as is_recovery
      from chain
      left join pg_stat_activity a on a.pid = chain.blocker
     where chain.blocker not in (select pid from waiting)
       and (chain.blocker = 0 or a.pid is not null)
  )
  select (select count(*)::int from waiting) as waiters, found.*,
         (select quote_literal(x.gid)
            from preparer
            join lock own on own.virtualtransaction = preparer.holder and own.pid is null
            join pg_prepared_xacts x on x.transaction = own.transactionid) as gid
    from (select) one_row
    left join (
      select object, prepared, of_them, background, backup, max(age) as age, count(distinct pid)::int as held_up,
             bool_or(is_recovery) as recovery, bool_and(idle) as idle
        from cause
       group by object, prepared, of_them, background, backup
       order by max(age) desc
    ) found on true`;

/** Sessions that hold a lock for which others have been waiting. */
export const blockedSessions: Check<typeof thresholds> = {
  id: 'PG_BLOCKED_SESSIONS',
  title: 'Session that blocks others',
  category: 'connections',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { warning_seconds, critical_seconds } = facts.thresholds;
    const waiters = numberIn(onlyRow(rows.slice(0, 1)), 'waiters');
    const found = rows.filter(({ age }) => age !== null);
    const scale = atLeast('longest_lock_wait_seconds', warning_seconds, critical_seconds);
    const measure = (row: Row) => ({ ...scale, object: nameCause(row), value: numberIn(row, 'age') });
    const atFault = found.filter((row) => numberIn(row, 'age') >= warning_seconds);
    const near = found.filter((row) => numberIn(row, 'age') >= 0.9 * warning_seconds);
    return {
      faults: atFault.map((row) => fault(row, faultMeasure(measure(row)), facts.thresholds)),
      passMessage:
        waiters === 0 ? 'No session waits for a lock.' : 'No session has been waiting for a lock for long.',
      measures: listHighest(scale, found.map(measure)),
      near: near.filter((row) => !atFault.includes(row)).map(nameCause),
      truncated: waiters > WAITER_LIMIT,
    };
  },
};

function nameCause(row: Row): string {
  return nameSessions(textIn(row, 'object'), row['backup'] === true);
}

/** Several prepared transactions have a lock there. */
const PREPARED =
  'SELECT database, gid, owner, prepared FROM pg_prepared_xacts ORDER BY prepared; -- then connect to its database, and run COMMIT PREPARED or ROLLBACK PREPARED with its gid, as its transaction manager decided';

function fault(row: Row, measured: FaultMeasure, levels: typeof thresholds): Fault {
  const age = numberIn(row, 'age');
  const isRecovery = row['recovery'] === true;
  const sessions = numberIn(row, 'held_up') - (isRecovery ? 1 : 0);
  const victims = [
    ...(isRecovery ? ['recovery, which replays the WAL,'] : []),
    ...(sessions > 0 ? [counted(sessions, 'session')] : []),
  ];
  const holding = `${victims.join(' and ')} for ${duration(age)}`;
  return {
    severity: age >= levels.critical_seconds ? 'critical' : 'warning',
    object: nameCause(row),
    measured,
    ...advice(row, holding, levels.warning_seconds),
  };
}

/** Conditions of a statement that is pasted: the sessions for which others, or those that wait for these, have waited so long. */
const blockers = (seconds: number) =>
  `pid IN (WITH RECURSIVE chain AS (SELECT pid FROM pg_locks WHERE waitstart < now() - interval '${seconds} s' UNION SELECT unnest(pg_blocking_pids(pid)) FROM chain) SELECT pid FROM chain) AND pid NOT IN (SELECT pid FROM pg_locks WHERE NOT granted)`;

const recoverysBlockers = (seconds: number) =>
  `pid IN (SELECT held.pid FROM pg_locks wanted JOIN pg_locks held USING (locktype, database, relation) WHERE NOT wanted.granted AND wanted.mode = 'AccessExclusiveLock' AND wanted.waitstart < now() - interval '${seconds} s' AND held.granted)`;

/** What to do about a blocker; `holding` says whom it blocks, and for how long; shorter waits than `seconds` are no fault. */
function advice(row: Row, holding: string, seconds: number): Pick<Fault, 'metricLine' | 'remediation'> {
  if (row['prepared'] === true) {
    const gid = textOrNone(row, 'gid');
    return {
      metricLine: `A prepared transaction has blocked ${holding}; commit it or roll it back in its database.`,
      remediation: gid === undefined ? PREPARED : preparedSteps(gid),
    };
  }
  const who = `${textIn(row, 'object')} (database, role, application)`;
  const doing = row['idle'] === true ? ', idle in transaction,' : '';
  const sessions = `pg_stat_activity WHERE ${textIn(row, 'of_them')} AND ${row['recovery'] === true ? recoverysBlockers(seconds) : blockers(seconds)};`;
  if (row['background'] === true) {
    return {
      metricLine: `A background process of ${who} has blocked ${holding}; look what it does.`,
      remediation: `SELECT pid, backend_type, query_start, query FROM ${sessions} -- then wait until it ends, or cancel it with SELECT pg_cancel_backend(…); an autovacuum that prevents wraparound starts again`,
    };
  }
  if (row['backup'] === true) {
    return {
      metricLine: `A backup by pg_dump, ${who}, has blocked ${holding}; let it end, or cancel what waits for it.`,
      remediation: `SELECT pid, state, xact_start FROM ${sessions} -- then wait until the backup ends, and change no table during one; if it hangs, end it with SELECT pg_terminate_backend(…), and take it again`,
    };
  }
  if (row['recovery'] === true) {
    return {
      metricLine: `Sessions of ${who}${doing} have blocked ${holding}; end them, or lower max_standby_streaming_delay, after which the standby ends such sessions itself.`,
      remediation: `SELECT pg_terminate_backend(pid) FROM ${sessions}`,
    };
  }
  return {
    metricLine: `Sessions of ${who}${doing} have blocked ${holding}; end them, and set a lock_timeout to limit future waits.`,
    remediation: `SELECT pg_terminate_backend(pid) FROM ${sessions}`,
  };
}
