import { innodbNow, waitsForMetadata } from '../../../checks/mysql/own-time.ts';

/** The most groups of sessions, the largest first. With names of full length the answer still has less than 256 KiB. */
const MOST_GROUPS = 150;

/** A derived table, which the optimizer keys; a limit keeps it from being merged into the join. */
export const transactions = (alias: string) => `(
           select trx_id, trx_mysql_thread_id, trx_state, trx_wait_started
             from information_schema.innodb_trx
            limit 1000000) ${alias}`;

/** The same, with the seconds that each has waited for a row. */
const WAITING_TRANSACTIONS = `(
           select trx_id, trx_mysql_thread_id,
                  if(trx_wait_started is null, null, timestampdiff(microsecond, trx_wait_started, ${innodbNow}) / 1e6) as waited
             from information_schema.innodb_trx
            limit 1000000) trx`;

/** The sessions. MySQL shows them without a lock in performance_schema only, of which it shows nothing where that is off. */
export const listSessions = (isInstrumented: boolean) => `/*!80000 (
                    ${
                      isInstrumented
                        ? `select processlist_id as id, processlist_user as user, processlist_db as db, processlist_command as command,
                           processlist_time as time, processlist_state as state, thread_id
                      from performance_schema.threads
                     where processlist_id is not null`
                        : 'select id, user, db, command, time, state, null as thread_id from information_schema.processlist'
                    }) */ /*M! information_schema.processlist */`;

// MariaDB knows the digest of a statement only when it has ended.
const WITH_DIGESTS = `
                    /*!80000 left join (
                           select thread_id, digest
                             from performance_schema.events_statements_current
                            where end_event_id is null and nesting_event_level = 0
                            limit 1000000) e on e.thread_id = p.thread_id */`;

/** Expression: for how many seconds a session has waited for a row or for metadata; null if it does not wait. */
const WAITED = `coalesce(trx.waited, if(${waitsForMetadata('p.state')}, p.time, null))`;

/** What MySQL tells for less than its status, of which one value costs as much as all: 0.9 ms. It needs performance_schema. */
const MYSQL_FIGURES = `concat('uptime=', (select processlist_time from performance_schema.threads where name = 'thread/sql/main'),
                ',threads_connected=', nullif((select count(connection_type) from performance_schema.threads), 0))`;

const FIGURES =
  "('Uptime', 'Threads_connected', 'Slave_running', 'Com_commit', 'Com_rollback', 'Innodb_deadlocks')";

/** How many statements of this kind were run. MariaDB has it among the figures. */
const completed = (kind: string) => `/*!80000 (select sum(count_star)
            from performance_schema.events_statements_summary_global_by_event_name
           where event_name = 'statement/sql/${kind}') */ /*M! null */`;

// One statement for both: each flavour runs only its own comment. Without performance_schema MySQL needs another one, with the sessions of
// processlist. It counts the sessions that wait: `mysqlWaits` reads them, where there
// are some. A wait of less than a second is ordinary.
export const mysqlPulse = (isInstrumented: boolean) => `
  select unix_timestamp() as clock,
         /*!80000 @@global.performance_schema */ /*M! 1 */ as is_instrumented,
         @@global.read_only as standby,
         coalesce(/*!80000 ${MYSQL_FIGURES}, */
           (select group_concat(concat(lower(variable_name), '=', variable_value) separator ',')
              from /*!80000 performance_schema.global_status */ /*M! information_schema.global_status */
             where variable_name in ${FIGURES})) as figures,
         /*!80000 (select if(count(*) = 0, null, min(c.service_state = 'ON' and a.service_state = 'ON'))
            from performance_schema.replication_connection_status c
            join performance_schema.replication_applier_status a using (channel_name)) */ /*M! null */ as replicating,
         @@global.max_connections as allowed,
         @@global.innodb_lock_wait_timeout as lock_wait_timeout,
         if(@@session.max_user_connections = 0, null,
            @@session.max_user_connections
              - (select count(*)
                   from ${listSessions(isInstrumented)} p
                  where user = substring_index(user(), '@', 1))) as room,
         busy.active,
         busy.idle as idle_in_transaction,
         busy.groups_read as \`load\`,
         ${completed('commit')} as commits,
         ${completed('rollback')} as rollbacks,
         /*!80000 (select \`count\` from information_schema.innodb_metrics where name = 'lock_deadlocks') */ /*M! null */ as deadlocks,
         /*!80000 (select max(timestampdiff(microsecond, applying_transaction_original_commit_timestamp, now(6))) / 1e6
            from performance_schema.replication_applier_status_by_worker
           where applying_transaction <> '') */ /*M! null */ as replica_lag,
         (select timestampdiff(microsecond, min(trx_started), ${innodbNow}) / 1e6
            from information_schema.innodb_trx) as oldest_transaction,
         busy.long_waits,
         busy.short_waits
    from (select convert(json_arrayagg(json_object(
                   'state', state, 'wait', wait, 'event', event, 'query', query, 'role', role, 'application', '',
                   'database', db, 'count', sessions, 'seconds', seconds)) using utf8mb4) as groups_read,
                 coalesce(max(all_active), 0) as active,
                 coalesce(max(all_idle), 0) as idle,
                 coalesce(max(all_long), 0) as long_waits,
                 coalesce(max(all_short), 0) as short_waits
            from (select if(p.command = 'Sleep', 'idle in transaction', 'active') as state,
                         case when ${WAITED} is not null then 'Lock' when p.command = 'Sleep' then 'Client' else '' end as wait,
                         if(trx.waited is not null, 'row', coalesce(p.state, '')) as event,
                         /*!80000 coalesce(e.digest, '') */ /*M! '' */ as query,
                         coalesce(p.user, '') as role,
                         coalesce(p.db, '') as db,
                         count(*) as sessions,
                         max(p.time) as seconds,
                         sum(sum(p.command <> 'Sleep')) over () as all_active,
                         sum(sum(p.command = 'Sleep')) over () as all_idle,
                         sum(sum(${WAITED} >= 1)) over () as all_long,
                         sum(sum(${WAITED} < 1)) over () as all_short
                    from ${listSessions(isInstrumented)} p
                    left join ${WAITING_TRANSACTIONS} on trx.trx_mysql_thread_id = p.id
                    ${WITH_DIGESTS}
                   where (p.command not in ('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID')
                          or (p.command = 'Sleep' and trx.trx_id is not null))
                     and p.id <> connection_id()
                     and (coalesce(p.user, '') not in ('', 'system user', 'event_scheduler') or ${WAITED} is not null)
                   group by 1, 2, 3, 4, 5, 6
                   order by sessions desc, seconds desc
                   limit ${MOST_GROUPS}) largest) busy`;
