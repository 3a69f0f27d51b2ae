const NAMES = `('pg_dump', 'pg_dumpall')`;

/** Catalogs that pg_dump reads first, and hardly another program does: their locks stay until the end of its transaction. */
const CATALOGS = ['pg_conversion', 'pg_default_acl', 'pg_transform'];

const CATALOG_OIDS = CATALOGS.map((name) => `'${name}'::regclass`).join(', ');

/** Condition of a statement that is pasted: a process is not of pg_dump, under whatever name. */
export function isNoDump(pid: string): string {
  return `${pid} NOT IN (SELECT pid FROM pg_locks WHERE relation IN (${CATALOG_OIDS}) GROUP BY pid HAVING count(DISTINCT relation) = ${CATALOGS.length})`;
}

/** A CTE for {@link isDump}: the sessions that have read what pg_dump reads. `locks` is pg_locks, or a CTE of all its rows. */
export function dumpSessions(locks = 'pg_locks'): string {
  return `dumping as materialized (
    select a.pid, a.datname, a.usename, a.application_name
      from ${locks} l
      join pg_stat_activity a on a.pid = l.pid and a.datid = l.database
     where l.locktype = 'relation' and l.granted
       and l.relation in (${CATALOG_OIDS})
     group by a.pid, a.datname, a.usename, a.application_name
    having count(distinct l.relation) = ${CATALOGS.length}
  )`;
}

/**
 * Condition: a session (a row of pg_stat_activity) is of pg_dump, also under another name (PGAPPNAME). It reads everything in
 * one transaction, and may idle there while its workers read, which have the same name and read tables only.
 */
export function isDump(session: string): string {
  return `coalesce(case when ${session}.application_name in ${NAMES} then true
                 when ${session}.xact_start is not null
                   then exists (select from dumping d
                                 where d.pid = ${session}.pid
                                    or (d.datname, d.usename, d.application_name)
                                         = (${session}.datname, ${session}.usename, ${session}.application_name)
                                       and ${session}.query like 'COPY % TO stdout%') end, false)`;
}

const NAME = '(?:"(?:[^"]|"")+"|[^\\s"().,;]+)';

/**
 * Condition: the text of a statement is one of pg_dump, also with --inserts, or begins or ends a backup. pg_dump names schema and
 * columns, and writes stdout in lower case; what it reads of a foreign table ends in a blank.
 */
export const isBackupStatement = (text: string) =>
  `(${text} ~ '^\\s*COPY ${NAME}\\.${NAME} (?:\\(.*\\))? ?TO stdout;?\\s*$'
    or ${text} ~ '^\\s*COPY \\(SELECT .* FROM ${NAME}\\.${NAME} (?:WHERE .*)?\\) TO stdout;?\\s*$'
    or ${text} ~ '^\\s*(?:DECLARE|FETCH|CLOSE)\\M.*\\m_pg_dump_cursor\\M'
    or ${text} ~ '^SELECT last_value, is_called FROM ${NAME}\\.${NAME}$'
    or ${text} ~ '^\\s*LOCK TABLE .* IN ACCESS SHARE MODE;?\\s*$'
    or ${text} ~* '\\mpg_(?:backup_(?:start|stop)|(?:start|stop)_backup)\\s*\\(')`;

/** The object of sessions: a backup under another name than its own may share that with other sessions. */
export function nameSessions(sessions: string, isBackup: boolean): string {
  return isBackup && !/\/pg_dump(?:all)?$/.test(sessions) ? `${sessions} (backup)` : sessions;
}

/**
 * Condition: a row of pg_stat_replication is no base backup, nor the WAL that one takes, also under another name (PGAPPNAME).
 * Without pg_monitor nobody knows.
 */
export function isNoBackup(row: string): string {
  return `(coalesce(${row}.state, '') <> 'backup' and coalesce(${row}.application_name, '') <> 'pg_basebackup'
                    and not exists (select from pg_replication_slots b
                                     where b.active_pid = ${row}.pid and b.temporary
                                       and left(b.slot_name, 14) = 'pg_basebackup_'))`;
}

/** Expression: whether the server has standbys, connected or with a slot. */
export const HAS_STANDBYS = `(
      exists (select from pg_replication_slots where slot_type = 'physical' and not temporary)
      or exists (select from pg_stat_replication r
                  where ${isNoBackup('r')}
                    and not exists (select from pg_replication_slots l
                                     where l.active_pid = r.pid and l.slot_type = 'logical')))`;
