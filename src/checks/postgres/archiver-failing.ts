import type { Check } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { duration, size } from '../wording.ts';

/** An archiver that succeeds archives each file within seconds. Of one that hangs, no attempt ends. Seconds. */
const STUCK_SECONDS = 300;

// On a standby only archive_mode = always archives. The name of a WAL file contains no user data. Without a command the server keeps all
// WAL for one.
const sql = `
  select current_setting('archive_mode') = 'always'
           or current_setting('archive_mode') = 'on' and not pg_is_in_recovery() as archives,
         current_setting('archive_command') in ('', '(disabled)')
           and coalesce(current_setting('archive_library', true), '') = '' as lacks_command,
         has_function_privilege('pg_ls_archive_statusdir()', 'execute') as sees_waiting,
         coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing,
         extract(epoch from clock_timestamp() - last_failed_time)::float8 as failed_ago,
         extract(epoch from clock_timestamp() - last_archived_time)::float8 as archived_ago,
         coalesce(last_failed_wal, '') as wal
    from pg_stat_archiver`;

// A statement of its own: one that names the function fails if the login may not run it.
const waiting = `
  select count(*)::float8 * pg_size_bytes(current_setting('wal_segment_size')) as waiting,
         extract(epoch from clock_timestamp() - min(modification))::float8 as waiting_for
    from pg_ls_archive_statusdir()
   where name ~ '^[0-9A-F]{24}[.]ready$'`;

/** WAL that can't be archived: point-in-time recovery ends there, and pg_wal grows until the disk is full. */
export const archiverFailing: Check = {
  id: 'PG_ARCHIVER_FAILING',
  title: 'WAL archiving fails',
  category: 'durability',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  steps: () => [
    (rows) => {
      const { archives, sees_waiting } = onlyRow(rows);
      return archives === true && sees_waiting === true ? waiting : undefined;
    },
  ],
  judge: (rows, { provider }) => {
    const row = onlyRow(rows);
    if (row['archives'] !== true)
      return { faults: [], measures: [], passMessage: 'This server does not archive its WAL.' };
    const never = row['archived_ago'] === null;
    const archived = never ? '' : `${duration(numberIn(row, 'archived_ago'))} ago`;
    const lastSuccess = never ? 'none was ever archived' : `the last success was ${archived}`;
    const passMessage = never ? 'No WAL has needed archiving yet.' : `WAL was last archived ${archived}.`;
    // A provider archives by means of its own.
    const found =
      (provider ? null : lackOfCommand(row)) ?? failure(row, lastSuccess) ?? silence(rows, lastSuccess);
    return {
      faults: found ? [{ severity: 'critical', object: null, ...found }] : [],
      measures: [],
      passMessage,
    };
  },
};

type Found = Pick<Fault, 'metricLine' | 'remediation'>;

function lackOfCommand(row: Row): Found | null {
  if (row['lacks_command'] !== true) return null;
  return {
    metricLine:
      'archive_mode is on, but archive_command is empty: nothing is archived, and the server keeps all WAL until the disk is full; set the command.',
    remediation:
      "SELECT name, setting, source FROM pg_settings WHERE name IN ('archive_mode', 'archive_command', 'archive_library'); -- then set archive_command, or turn archive_mode off, which takes effect at the next restart",
  };
}

function failure(row: Row, lastSuccess: string): Found | null {
  if (row['failing'] !== true) return null;
  return {
    metricLine: `Archiving ${textIn(row, 'wal')} failed ${duration(numberIn(row, 'failed_ago'))} ago, ${row['archived_ago'] === null ? 'and ' : ''}${lastSuccess}; make archiving work before the disk is full.`,
    remediation: `SHOW archive_command; -- run it by hand as the server's user; the server's log shows its errors`,
  };
}

/** Of an archiver that neither succeeds nor fails: its command hangs, or its process is not there. */
function silence(rows: readonly Row[], lastSuccess: string): Found | null {
  const { waiting, waiting_for } = rows.at(-1) ?? {};
  const { archived_ago } = onlyRow(rows);
  if (typeof waiting !== 'number' || typeof waiting_for !== 'number') return null;
  const isLate = typeof archived_ago !== 'number' || archived_ago >= STUCK_SECONDS;
  if (!isLate || waiting_for < STUCK_SECONDS) return null;
  return {
    metricLine: `Archiving neither succeeds nor fails: ${lastSuccess}, and ${size(waiting)} of WAL wait, the oldest for ${duration(waiting_for)}; find out whether the command hangs before the disk is full.`,
    remediation:
      "SELECT pid, backend_start FROM pg_stat_activity WHERE backend_type = 'archiver'; SHOW archive_command; -- then look for its child process on the server (ps --ppid PID): end one that hangs, and the archiver tries again. Give the command a timeout of its own",
  };
}
