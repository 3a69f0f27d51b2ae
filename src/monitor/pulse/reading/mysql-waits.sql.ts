import { conflicts } from '../../../checks/mysql/metadata-locks.ts';
import { innodbNow, waitsForMetadata, waitsForTable, waitsForUser } from '../../../checks/mysql/own-time.ts';
import { listSessions, transactions } from './mysql-pulse.sql.ts';

/** The most waits that are read, with one row for each blocker. */
const MOST_WAITS = 200;

/** Of the sessions that wait for one row with one kind of statement, how many are asked whom they wait for: the others wait for the same. */
const MOST_ASKED = 10;

/** The most blockers of one session. Those that do not wait themselves come first. */
const MOST_BLOCKERS = 8;

// InnoDB pairs each wait with all those before it. So the first waits for a row are asked with whom, since a crowd of 150 has 11,000 pairs: they
// took 50 ms on MySQL and 230 ms on MariaDB. MariaDB's pairs have no index.
const selectRowWaits = (isInstrumented: boolean) => `
  queued as (
    select trx_id, trx_mysql_thread_id as pid, trx_wait_started as since,
           row_number() over queue as place, first_value(trx_id) over queue as first
      from (select trx_id, trx_mysql_thread_id, trx_wait_started, left(ltrim(trx_query), 6) as command,
                   /*!80000 substring_index(substring_index(trx_requested_lock_id, ':', -4), ':', 3) */
                   /*M! substring_index(trx_requested_lock_id, ':', -3) */ as place_of_row
              from information_schema.innodb_trx
             where trx_wait_started <= ${innodbNow} - interval 1 second
             limit 1000000) waiting
    window queue as (partition by place_of_row, command order by trx_wait_started, trx_id)
  ), asked as (
    select * from queued where place <= ${MOST_ASKED} order by place, since limit ${MOST_WAITS}
  ), pairs as (
    select asked.trx_id, b.trx_mysql_thread_id as blocker,
           row_number() over (partition by asked.trx_id order by b.trx_wait_started is not null, b.trx_mysql_thread_id) as number
      from /*!80000 asked straight_join performance_schema.data_lock_waits w on w.requesting_engine_transaction_id = asked.trx_id */
           /*M! information_schema.innodb_lock_waits w straight_join asked on w.requesting_trx_id = asked.trx_id */
      straight_join ${transactions('b')}
        on b.trx_id = /*!80000 w.blocking_engine_transaction_id */ /*M! w.blocking_trx_id */
  ), row_waits as (
    select queued.pid, pairs.blocker, timestampdiff(microsecond, queued.since, ${innodbNow}) / 1e6 as seconds,
           queued.place, pairs.number
      from queued
      ${isInstrumented ? 'join' : '/*!80000 left */ join'} pairs on pairs.trx_id = if(queued.place <= ${MOST_ASKED}, queued.trx_id, queued.first)
     where coalesce(pairs.number, 1) <= ${MOST_BLOCKERS}
     order by number, place, since
     limit ${MOST_WAITS}
  )`;

/** Of the holders of what a session waits for, only those with which it conflicts, if there are some. */
const selectMetadataWaits = (sessions: string) => `
  metadata_waits as (
    select pid, blocker, seconds, lock_type, relation, number
      from (select p.id as pid, ht.processlist_id as blocker, p.time as seconds,
                   if(${waitsForUser('p.state')}, 'user', 'metadata') as lock_type,
                   if(${waitsForUser('p.state')}, null, concat_ws('.', wanted.object_schema, wanted.object_name)) as relation,
                   ${conflicts('wanted', 'held')} as is_cause,
                   max(${conflicts('wanted', 'held')}) over (partition by p.id) as has_cause,
                   row_number() over (partition by p.id
                                          order by ${conflicts('wanted', 'held')} desc, ${waitsForMetadata('ht.processlist_state')},
                                                   held.owner_thread_id) as number
              from ${sessions} p
              left join performance_schema.threads wt on wt.processlist_id = p.id
              left join performance_schema.metadata_locks wanted
                on wanted.owner_thread_id = wt.thread_id and wanted.lock_status = 'PENDING'
              left join performance_schema.metadata_locks held
                on held.object_type = wanted.object_type
               and held.object_schema <=> wanted.object_schema
               and held.object_name <=> wanted.object_name
               and held.owner_thread_id <> wanted.owner_thread_id
               and held.lock_status = 'GRANTED'
              left join performance_schema.threads ht on ht.thread_id = held.owner_thread_id
             where ${waitsForMetadata('p.state')} and not ${waitsForTable('p.state')} and p.time >= 1) each_pair
     where number <= ${MOST_BLOCKERS} and is_cause <=> has_cause
     order by number, seconds desc
     limit ${MOST_WAITS}
  )`;

/** Whether the server has {@link mariadbWaits}' table. */
export const hasLockPlugin = `
  select count(*) as found
    from information_schema.plugins
   where plugin_name = 'METADATA_LOCK_INFO' and plugin_status = 'ACTIVE'`;

/**
 * The same from MariaDB's plugin, which shows who holds a lock and not who wants it: an ALTER TABLE holds one on its table that it wants to
 * upgrade. Whom those behind it wait for is not shown.
 */
const selectPluginWaits = (sessions: string) => `
  metadata_waits as (
    select pid, blocker, seconds, lock_type, relation, number
      from (select p.id as pid, held.thread_id as blocker, p.time as seconds,
                   if(${waitsForUser('p.state')}, 'user', 'metadata') as lock_type,
                   concat(wanted.table_schema, '.', wanted.table_name) as relation,
                   row_number() over (partition by p.id order by ${waitsForMetadata('holder.state')}, held.thread_id) as number
              from ${sessions} p
              left join information_schema.metadata_lock_info wanted
                on wanted.thread_id = p.id
               and wanted.lock_mode in ('MDL_SHARED_UPGRADABLE', 'MDL_SHARED_NO_WRITE', 'MDL_SHARED_NO_READ_WRITE')
              left join information_schema.metadata_lock_info held
                on held.table_schema = wanted.table_schema
               and held.table_name = wanted.table_name
               and held.lock_type = wanted.lock_type
               and held.thread_id <> wanted.thread_id
              left join ${sessions} holder on holder.id = held.thread_id
             where ${waitsForMetadata('p.state')} and not ${waitsForTable('p.state')} and p.time >= 1) each_pair
     where number <= ${MOST_BLOCKERS}
     order by number, seconds desc
     limit ${MOST_WAITS}
  )`;

/** A session that waits for a table has a handle of it too, and is no cause for the others that wait for it. */
const selectTableWaits = (sessions: string) => `
  table_waits as (
    select pid, blocker, seconds, relation, number
      from (select p.id as pid, ht.processlist_id as blocker, p.time as seconds,
                   concat(wanted.object_schema, '.', wanted.object_name) as relation,
                   row_number() over (partition by p.id order by ht.processlist_id is null, ht.thread_id) as number
              from ${sessions} p
              left join performance_schema.threads wt on wt.processlist_id = p.id
              left join performance_schema.table_handles wanted
                on wanted.owner_thread_id = wt.thread_id and wanted.internal_lock is not null
              left join performance_schema.table_handles held
                on held.object_schema = wanted.object_schema
               and held.object_name = wanted.object_name
               and held.owner_thread_id <> wanted.owner_thread_id
               and held.internal_lock is not null
              left join performance_schema.threads ht
                on ht.thread_id = held.owner_thread_id and not ${waitsForTable('ht.processlist_state')}
             where ${waitsForTable('p.state')} and p.time >= 1) each_pair
     where number <= ${MOST_BLOCKERS}
     order by number, seconds desc
     limit ${MOST_WAITS}
  )`;

// One statement for both: each flavour runs only its own comment. A session that waits for a metadata lock whose holder is not shown has
// no blocker. The name of a user's lock is a value of the application, so it is not read.
const selectWaits = (isInstrumented: boolean, metadataWaits: (sessions: string) => string) => `
  with ${selectRowWaits(isInstrumented)}, ${metadataWaits(listSessions(isInstrumented))},
       ${selectTableWaits(listSessions(isInstrumented))}, waits as (
    select pid, blocker, seconds, 'row' as lock_type, null as relation from row_waits
    union
    select pid, blocker, seconds, lock_type, relation from metadata_waits
    union
    select pid, blocker, seconds, 'table' as lock_type, relation from table_waits
  )
  select (select convert(json_arrayagg(json_object('pid', pid, 'blocker', blocker, 'seconds', seconds, 'lock', lock_type,
                                                   'relation', relation)) using utf8mb4)
            from waits) as waits,
         (select convert(json_arrayagg(json_object(
                   'pid', id, 'started', 0, 'database', coalesce(db, ''), 'role', user, 'application', '',
                   'state', if(command = 'Sleep', 'idle in transaction', 'active'), 'seconds', time)) using utf8mb4)
            from (select p.id, p.db, coalesce(p.user, '') as user, p.command, p.time
                    from (select pid as id from waits union select blocker from waits) named
                    straight_join ${listSessions(isInstrumented)} p on p.id = named.id) seen) as sessions`;

export const mysqlWaits = (isInstrumented: boolean) => selectWaits(isInstrumented, selectMetadataWaits);

/** For MariaDB with the plugin METADATA_LOCK_INFO, where performance_schema shows no holder. */
export const mariadbWaits = selectWaits(true, selectPluginWaits);
