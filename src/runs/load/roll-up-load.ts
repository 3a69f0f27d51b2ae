import type pg from 'pg';
import { doesNotMove } from '../../store/cells/moving.sql.ts';
import { MOST_LOAD_SOURCES } from './session-load.ts';

const nextDue = `
  select account_id, connection_id, at
    from session_load l
   where minutes = 1 and at < $1 and ${doesNotMove('l.account_id')}
   order by at
   limit 1`;

// A minute without a pulse has no row. Two rounds at once: the later one waits for the first, and finds nothing.
const rollUp = `
  with minute as (
    delete from session_load
     where account_id = $1 and connection_id = $2 and minutes = 1 and at < least($4, $3::timestamptz + interval '1 day')
    returning *, date_bin('5 min', at, '2000-01-01Z') as began
  ), span as (
    select began, count(*) as minutes, avg(active) as active, avg(idle_in_transaction) as idle_in_transaction,
           max(blocked_sessions) as blocked_sessions, max(blocked_seconds) as blocked_seconds, avg(commits) as commits,
           avg(rollbacks) as rollbacks, max(replica_lag) as replica_lag
      from minute
     group by began
  ), ranked as (
    select began, source_id, sum(s.sessions) as total,
           row_number() over (partition by began order by sum(s.sessions) desc, source_id) as place
      from minute
     cross join unnest(sources, minute.sessions) s (source_id, sessions)
     group by began, source_id
  ), largest as (
    select began, array_agg(source_id order by place) as sources,
           array_agg((total / minutes)::real order by place) as sessions
      from ranked
      join span using (began)
     where place <= ${MOST_LOAD_SOURCES}
     group by began
  )
  insert into session_load (account_id, connection_id, at, minutes, active, idle_in_transaction, blocked_sessions,
                            blocked_seconds, commits, rollbacks, replica_lag, sources, sessions)
  select $1, $2, began, 5, active, idle_in_transaction, blocked_sessions, blocked_seconds, commits, rollbacks, replica_lag,
         coalesce(sources, '{}'), coalesce(sessions, '{}')
    from span
    left join largest using (began)
  on conflict (account_id, connection_id, at) do nothing`;

const HOUR_MS = 3_600_000;

/**
 * Makes five minutes of the minutes that are a day old, each hour: of a connection up to a day in one statement. Yields after
 * each. Any number of processes may do this at once.
 */
export async function* rollUpLoad(writer: pg.Pool, now = Date.now()): AsyncGenerator<void> {
  const to = new Date(now - (now % HOUR_MS) - 24 * HOUR_MS);
  for (;;) {
    const { rows } = await writer.query<{ account_id: number; connection_id: number; at: Date }>(nextDue, [
      to,
    ]);
    const [due] = rows;
    if (!due) return;
    await writer.query(rollUp, [due.account_id, due.connection_id, due.at, to]);
    yield;
  }
}
