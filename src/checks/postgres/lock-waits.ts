// What a session waits for is the fault of the one that holds it, which PG_BLOCKED_SESSIONS names. So the time of a
// session, its query and its transaction ends where a wait for a lock began.

/** A CTE for {@link ownTime}. It is not run unless some session waits. */
export const LOCK_WAITS = `waiting_for_lock as materialized (
    select pid, min(waitstart) as since from pg_locks where not granted group by pid
  )`;

/** Expression: seconds of a session (`s`, a row of pg_stat_activity) since a time of it, without a lock that it waits for. */
export function ownTime(since: string): string {
  return `extract(epoch from coalesce(case when s.wait_event_type = 'Lock'
                                           then (select w.since from waiting_for_lock w where w.pid = s.pid) end,
                                      clock_timestamp()) - s.${since})::float8`;
}

/**
 * Condition: the text of a statement does nothing but wait for a lock, of its own or of tables. What it took is the time of
 * others.
 */
export const isWaitStatement = (text: string) =>
  `(${text} ~* '\\mpg_advisory_(?:xact_)?lock(?:_shared)?\\s*\\(' and ${text} !~* '\\mfrom\\M'
    or ${text} ~* '^\\s*LOCK\\M')`;

/** Condition of a statement that is pasted: by {@link ownTime}, `since` is `seconds` ago. Idle sessions wait for no lock. */
export function isOlder(since: string, seconds: number, mayWait: boolean): string {
  const limit = `interval '${seconds} s'`;
  const waits = ` AND pid NOT IN (SELECT pid FROM pg_locks WHERE waitstart < ${since} + ${limit})`;
  return `${since} < now() - ${limit}${mayWait ? waits : ''}`;
}
