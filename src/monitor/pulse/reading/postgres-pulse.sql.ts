/** The most sessions that wait for a lock and are read: of each lock those that wait longest. */
const MOST_WAITS = 150;

/** The most sessions that hold such a lock and do not wait themselves, those that block most first. */
const MOST_ROOTS = 50;

/** The most blockers of one session. Those that do not wait themselves come first. */
const MOST_BLOCKERS = 8;

/** Of the sessions that wait for one lock in one mode, how many are asked whom they wait for: the others wait for the same, and for these. */
const MOST_ASKED = 10;

/** The most groups of sessions, the largest first. With names of full length the answer still has less than 256 KiB. */
const MOST_GROUPS = 150;

/** Aurora refuses a statement that asks for its receiver of WAL, or for a position in it. */
const IS_AURORA = `exists (select from pg_proc where proname = 'aurora_version')`;

/** Expression: the names of a session's database and role. Looked up for those that are shown: a pulse is half as dear as with joins. */
const databaseOf = (session: string) =>
  `coalesce((select datname from pg_database where oid = ${session}.datid), '')`;
const roleOf = (session: string) => `coalesce(pg_get_userbyid(${session}.usesysid), '')`;

/** Expression: the application of a session, or what a process of the server does. */
const applicationOf = (session: string) =>
  `coalesce(nullif(${session}.application_name, ''), nullif(${session}.backend_type, 'client backend'), '')`;

// Locks are looked at only where a session waits for one; a role without pg_monitor does not see whether one does, nor which of the
// processes are sessions: only these have a database and a role. A wait of less than a second is ordinary, and only counted. Of each
// lock the first waits come first, so that a crowd at one lock does not hide a session at another.
// pg_blocking_pids briefly blocks the lock manager, so it is called for a few waits of each lock. It knows a parallel query by its
// leader. It does not know whom recovery on a standby waits for: those who hold the relation. Where it names nobody, the wait is over.
// To read pg_stat_database, PostgreSQL 14 makes its statistics collector write a file.
export const postgresPulse = `
  with seen as materialized (
    select pid, case when backend_type = 'parallel worker' then leader_pid end as leader, datid, usesysid, application_name,
           backend_start, backend_type, state, state_change, xact_start, wait_event_type, wait_event, query_id
      from pg_stat_get_activity(null)
  ), busy as materialized (
    select case when state like 'idle in transaction%' then 'idle in transaction' else 'active' end as state,
           wait_event_type, wait_event, query_id, usesysid, application_name, backend_type, datid,
           count(*) as sessions,
           min(state_change) as since
      from seen
     where (state like 'idle in transaction%' or state in ('active', 'fastpath function call'))
       and backend_type in ('client backend', 'parallel worker')
       and pid <> pg_backend_pid()
     group by 1, 2, 3, 4, 5, 6, 7, 8
  ), lock as materialized (
    select *
      from pg_locks
     where not pg_has_role('pg_read_all_stats', 'usage')
        or exists (select from seen where wait_event_type = 'Lock')
  ), waiting as materialized (
    select pid, min(waitstart) as since, min(locktype) as locktype,
           min(relation) filter (where database = (select oid from pg_database where datname = current_database())) as relation,
           min(place) as place, min(first) as first
      from (select coalesce(s.leader, l.pid) as pid, waitstart, locktype, database, relation,
                   row_number() over queue as place,
                   first_value(coalesce(s.leader, l.pid)) over queue as first
              from lock l
              left join seen s using (pid)
             where not granted
            window queue as (partition by locktype, database, relation, page, tuple, virtualxid, transactionid::text, classid,
                                          objid, objsubid, mode
                                 order by waitstart)) queued
     group by pid
  ), longest as materialized (
    select *
      from waiting
     where since <= clock_timestamp() - interval '1 s'
     order by place, since
     limit ${MOST_WAITS}
  ), asked as materialized (
    select pid,
           array(select blocker
                   from (select unnest(pg_blocking_pids(longest.pid)) as blocker
                          union all
                         select held.pid
                           from lock wanted
                           join lock held on held.granted
                                         and (held.locktype, held.database, held.relation)
                                               = (wanted.locktype, wanted.database, wanted.relation)
                          where wanted.pid = longest.pid
                            and not wanted.granted
                            and longest.pid in (select pid from seen where backend_type = 'startup')) by
                  group by blocker
                  order by blocker in (select pid from waiting), blocker
                  limit ${MOST_BLOCKERS}) as blockers
      from longest
     where place <= ${MOST_ASKED}
  ), blocked as materialized (
    select longest.pid, since, locktype, relation,
           coalesce(own.blockers, nullif(of_first.blockers, '{}'), array[first]) as blockers
      from longest
      left join asked own on own.pid = longest.pid
      left join asked of_first on of_first.pid = longest.first
     where own.blockers is distinct from '{}'
  ), root as (
    select blocker as pid
      from blocked, unnest(blockers) blocker
     where blocker not in (select pid from blocked)
     group by blocker
     order by count(*) desc, blocker
     limit ${MOST_ROOTS}
  ), ended as materialized (
    select sum(xact_commit)::float8 as commits, sum(xact_rollback)::float8 as rollbacks from pg_stat_database
  )
  select extract(epoch from pg_postmaster_start_time())::float8 as started,
         pg_is_in_recovery() as standby,
         case when pg_is_in_recovery() and not ${IS_AURORA}
              then (select count(*) > 0 from pg_stat_wal_receiver) end as replicating,
         every.used,
         current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int
           - coalesce(current_setting('reserved_connections', true)::int, 0) as allowed,
         (select r.rolconnlimit - (select count(*) from seen s where s.usesysid = r.oid)::int
            from pg_roles r
           where r.rolname = current_user and r.rolconnlimit >= 0 and not r.rolsuper) as room,
         (select coalesce(sum(sessions), 0)::int from busy where state = 'active') as active,
         (select coalesce(sum(sessions), 0)::int from busy where state <> 'active') as idle_in_transaction,
         (select json_agg(json_build_object(
                   'state', state,
                   'wait', coalesce(wait_event_type, ''),
                   'event', coalesce(wait_event, ''),
                   'query', coalesce(query_id::text, ''),
                   'role', ${roleOf('largest')},
                   'application', ${applicationOf('largest')},
                   'database', ${databaseOf('largest')},
                   'count', sessions,
                   'seconds', coalesce(extract(epoch from clock_timestamp() - since), 0)))::text
            from (select * from busy order by sessions desc, since limit ${MOST_GROUPS}) largest) as load,
         case when current_setting('server_version_num')::int >= 150000
              then (select commits from ended) end as commits,
         case when current_setting('server_version_num')::int >= 150000
              then (select rollbacks from ended) end as rollbacks,
         case when ${IS_AURORA} then null
              when not pg_is_in_recovery()
              then (select extract(epoch from max(replay_lag))::float8 from pg_stat_get_wal_senders())
              when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
              else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 end as replica_lag,
         extract(epoch from clock_timestamp() - every.oldest)::float8 as oldest_transaction,
         (select count(*)::int from waiting where coalesce(since > clock_timestamp() - interval '1 s', true)) as short_waits,
         (select json_agg(json_build_object(
                   'pid', b.pid,
                   'blockers', b.blockers,
                   'seconds', extract(epoch from clock_timestamp() - b.since),
                   'lock', b.locktype,
                   'relation', (select quote_ident(n.nspname) || '.' || quote_ident(c.relname)
                                  from pg_class c
                                  join pg_namespace n on n.oid = c.relnamespace
                                 where c.oid = b.relation)))::text
            from blocked b) as waits,
         (select json_agg(json_build_object(
                   'pid', s.pid,
                   'started', coalesce(extract(epoch from s.backend_start), 0),
                   'database', ${databaseOf('s')},
                   'role', case when coalesce(s.backend_type, 'client backend') = 'client backend' then ${roleOf('s')} else '' end,
                   'application', ${applicationOf('s')},
                   'state', coalesce(s.state, ''),
                   'seconds', coalesce(extract(epoch from clock_timestamp() - s.state_change), 0)))::text
            from seen s
           where s.pid in (select pid from blocked union select pid from root)) as sessions
    from (select count(*) filter (where backend_type = 'client backend'
                                     or (backend_type is null and datid is not null and usesysid is not null))::int as used,
                 min(xact_start) filter (where backend_type = 'client backend' and pid <> pg_backend_pid()) as oldest
            from seen) every`;
