// What a session waits for is the fault of the one that holds it, which MY_LOCK_WAITS and MY_MDL_WAIT name. So the time of a
// transaction ends where a wait for a lock began.

/**
 * The current time as InnoDB writes trx_started and trx_wait_started: in the machine's time zone, whatever the
 * session's time_zone. After a clock change it is an hour off for what began before.
 */
export const innodbNow = `convert_tz(utc_timestamp(6), '+00:00', 'SYSTEM')`;

/** The state of a session that waits in GET_LOCK. MySQL and MariaDB keep these locks among the metadata locks. */
const USER_LOCK = 'User lock';

/** Condition: a session with this state in processlist waits for a lock that a user named in GET_LOCK. */
export const waitsForUser = (state: string) => `coalesce(${state} = '${USER_LOCK}', false)`;

/** The state of a session that waits for a table of an engine without row locks, such as MyISAM, MEMORY or Aria. */
const TABLE_LOCK = 'Waiting for table level lock';

/** Condition: a session with this state in processlist waits for such a table. */
export const waitsForTable = (state: string) => `coalesce(${state} = '${TABLE_LOCK}', false)`;

/** Condition: a session with this state in processlist waits for a metadata lock, a flush, a global lock, a table, or a user's lock. */
export function waitsForMetadata(state: string): string {
  return `coalesce(${state} = '${USER_LOCK}' or ${state} like 'Waiting for %' and (${state} like '% metadata lock' or ${state} in ('${TABLE_LOCK}', 'Waiting for table flush', 'Waiting for global read lock', 'Waiting for backup lock', 'Waiting for commit lock')), false)`;
}

/** Condition of a statement that is pasted: the session waits for a lock that is not of a row. */
export const WAITS = `(state LIKE 'Waiting for %' OR state = '${USER_LOCK}')`;

/**
 * Condition of a digest's text: the statement does nothing but wait, for a lock of users or tables or for a position of
 * replication. What it took is the time of others.
 */
export const WAITING_DIGEST = `(((digest_text not like '% FROM %' or digest_text like '% FROM DUAL%' and digest_text not like '% FROM % FROM %')
            and lower(digest_text) regexp '(get_lock|(master|source)_pos_wait|master_gtid_wait|wait_for_executed_gtid_set|wait_until_sql_thread_after_gtids)[^a-z0-9_]*[(]')
          or digest_text like 'LOCK TABLE%')`;

// The server does not tell since when a session waits for a metadata lock, but since when its statement runs.
const end = `coalesce(trx.trx_wait_started,
                              case when ${waitsForMetadata('p.state')}
                                   then ${innodbNow} - interval coalesce(p.time, 0) second end,
                              ${innodbNow})`;

/** Expression: seconds that a transaction (`trx`, with its session `p` of processlist) has been open, without its wait for a lock. */
export const ownTime = `greatest(0, timestampdiff(microsecond, trx.trx_started, ${end}) / 1e6)`;

/** Condition of a statement that is pasted: by {@link ownTime}, a transaction has been open for `seconds`. */
export function isOlder(seconds: number): string {
  const since = `if(${WAITS}, ${innodbNow} - INTERVAL time SECOND, ${innodbNow})`;
  return `timestampdiff(SECOND, trx_started, coalesce(trx_wait_started, ${since})) >= ${seconds}`;
}
