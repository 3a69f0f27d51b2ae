import type { Check } from '../check.ts';
import type { Row } from '../fault.ts';

// A backup reads everything in one transaction, and blocks those who change tables. Programs say their names when they connect,
// which performance_schema keeps. Where it is off, only the statement that runs tells.

const PROGRAMS = [
  'mariadb-backup',
  'mariadb-dump',
  'mariabackup',
  'mydumper',
  'mysqldump',
  'mysqlpump',
  'xtrabackup',
];

const PROGRAM_LIST = PROGRAMS.map((name) => `'${name}'`).join(', ');

/** How MySQL Shell calls itself, also to those who only type in it. */
const SHELL = 'MySQL Shell';

/**
 * Condition: a statement is one that dumps a table. mydumper and mysqlpump use that of mysqldump. MySQL Shell says in a comment
 * which of its functions asks, such as dumpInstance, dump_schemas, exportTable or copyTables.
 */
const isDumpText = (text: string) =>
  `coalesce(${text} like 'SELECT /*!40001 SQL_NO_CACHE */ %'
                  or ${['dump', 'export', 'copy'].map((begins) => `${text} like 'SELECT %/* mysqlsh ${begins}%'`).join(' or ')}, false)`;

/** Columns of a session (of processlist `p`) for {@link backupIn}. */
export const BACKUP_COLUMNS = `p.id as thread, ${isDumpText('p.info')} as dumps`;

/**
 * Condition of a digest's text: it is a statement of a backup. A digest has no comments. A query of an application joins or
 * groups; a backup locks or flushes the tables first.
 */
export const BACKUP_DIGEST = `((digest_text like 'SELECT SQL_NO_CACHE %' and digest_text not like '% JOIN %' and digest_text not like '% GROUP BY %')
          or digest_text like 'LOCK INSTANCE FOR BACKUP%' or digest_text like 'BACKUP STAGE %'
          or digest_text like 'FLUSH %TABLES WITH READ LOCK%' or digest_text like 'FLUSH %TABLES')`;

/** Condition of a statement that is pasted, after AND: the session does not dump a table. */
export const NO_DUMP = "coalesce(info, '') NOT LIKE '%SQL_NO_CACHE%'";

/**
 * The same for a session (`id`) that may idle between two statements of a backup: neither its program nor its last statement is
 * one of a backup. Where performance_schema is off, only what it runs now tells.
 */
export const NO_BACKUP = [
  NO_DUMP,
  `id NOT IN (SELECT processlist_id FROM performance_schema.session_connect_attrs WHERE attr_name = 'program_name' AND attr_value IN (${PROGRAM_LIST}))`,
  `id NOT IN (SELECT t.processlist_id FROM performance_schema.threads t JOIN performance_schema.events_statements_current s ON s.thread_id = t.thread_id WHERE t.processlist_id IS NOT NULL AND (s.sql_text LIKE '%SQL_NO_CACHE%' OR s.sql_text LIKE '%mysqlsh %'))`,
].join(' AND ');

// A login sees there only the tables that it may read.
const seesPrograms = `
  select count(case when table_name = 'session_connect_attrs' then 1 end) as sees_programs,
         count(*) as sees_statements
    from information_schema.tables
   where table_schema = 'performance_schema'
     and table_name in ('session_connect_attrs', 'threads', 'events_statements_current')`;

const programs = `
  select processlist_id as backup_thread, attr_value as program
    from performance_schema.session_connect_attrs
   where attr_name = 'program_name'
     and attr_value in (${PROGRAM_LIST})`;

// MySQL Shell dumps in several sessions of one process, which idle between their statements. One that has dumped last tells of
// the others, too. A text that is cut ends before the comment.
const shells = `
  select attribute.processlist_id as backup_thread, '${SHELL}' as program
    from performance_schema.session_connect_attrs attribute
    join performance_schema.session_connect_attrs process
      on process.processlist_id = attribute.processlist_id and process.attr_name = '_pid'
    join performance_schema.threads thread on thread.processlist_id = attribute.processlist_id
   where attribute.attr_name = 'program_name' and attribute.attr_value = 'mysqlsh'
     and exists (
       select 1
         from performance_schema.events_statements_current statement
         join performance_schema.threads other on other.thread_id = statement.thread_id
         join performance_schema.session_connect_attrs pid on pid.processlist_id = other.processlist_id
        where (statement.sql_text like 'SELECT SQL_NO_CACHE %' or ${isDumpText('statement.sql_text')})
          and pid.attr_name = '_pid' and pid.attr_value = process.attr_value
          and other.processlist_host <=> thread.processlist_host)`;

/** The steps of a check that read which sessions are backups, if `isNeeded` by the rows so far. They need no privilege. */
export function backupSteps(
  isNeeded: (rows: readonly Row[]) => boolean,
): ReturnType<NonNullable<Check['steps']>> {
  return [
    (rows) => (isNeeded(rows) ? seesPrograms : undefined),
    (rows) => (rows.some((row) => Number(row['sees_programs'] ?? 0) > 0) ? programs : undefined),
    (rows) => (rows.some((row) => Number(row['sees_statements'] ?? 0) === 3) ? shells : undefined),
  ];
}

/** `a backup by mysqldump`, or `a backup` if only its statement tells; undefined if the session of a thread is none. */
export function backupIn(rows: readonly Row[], thread: unknown, dumps: unknown): string | undefined {
  const own = rows.find((row) => 'backup_thread' in row && row['backup_thread'] === thread);
  const program = [...PROGRAMS, SHELL].find((name) => name === own?.['program']);
  if (program !== undefined) return `a backup by ${program}`;
  return Number(dumps) === 1 ? 'a backup' : undefined;
}

/** What to do about a backup: after a statement that shows it, and a semicolon. */
export const LET_BACKUP_END =
  '-- then wait until the backup ends, and change no table during one; if it hangs, end it with KILL and its id, and take it again';
