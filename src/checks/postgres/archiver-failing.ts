import type { Check } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { duration, size } from '../wording.ts';

/** An archiver that succeeds archives each file within seconds. One that hangs counts no failure. */
const STUCK = { seconds: 300, segments: 5 };

// On a standby only archive_mode = always archives. The name of a WAL file contains no user data. It is a timeline and two words
// of a position; those of a timeline's history or of a backup say nothing. Without a command the server keeps all WAL for one.
const sql = `
  select current_setting('archive_mode') = 'always'
           or current_setting('archive_mode') = 'on' and not pg_is_in_recovery() as archives,
         current_setting('archive_command') in ('', '(disabled)')
           and coalesce(current_setting('archive_library', true), '') = '' as lacks_command,
         case when last_archived_wal ~ '^[0-9A-F]{24}$'
              then pg_wal_lsn_diff(case when pg_is_in_recovery()
                                        then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())
                                        else pg_current_wal_lsn() end, '0/0')
                   - ('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * 4294967296
                   - (('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint + 1)
                     * pg_size_bytes(current_setting('wal_segment_size')) end::float8 as waiting,
         pg_size_bytes(current_setting('wal_segment_size'))::float8 as segment,
         coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing,
         extract(epoch from clock_timestamp() - last_failed_time)::float8 as failed_ago,
         extract(epoch from clock_timestamp() - last_archived_time)::float8 as archived_ago,
         coalesce(last_failed_wal, '') as wal
    from pg_stat_archiver`;

/** WAL that can't be archived: point-in-time recovery ends there, and pg_wal grows until the disk is full. */
export const archiverFailing: Check = {
  id: 'PG_ARCHIVER_FAILING',
  title: 'WAL archiving fails',
  category: 'durability',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows, { provider }) => {
    const row = onlyRow(rows);
    if (row['archives'] !== true)
      return { faults: [], measures: [], passMessage: 'This server does not archive its WAL.' };
    const never = row['archived_ago'] === null;
    const archived = never ? '' : `${duration(numberIn(row, 'archived_ago'))} ago`;
    const passMessage = never ? 'No WAL has needed archiving yet.' : `WAL was last archived ${archived}.`;
    // A provider archives by means of its own.
    const found = (provider ? null : lackOfCommand(row)) ?? failure(row, never, archived) ?? silence(row);
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

function failure(row: Row, never: boolean, archived: string): Found | null {
  if (row['failing'] !== true) return null;
  return {
    metricLine: `Archiving ${textIn(row, 'wal')} failed ${duration(numberIn(row, 'failed_ago'))} ago, ${never ? 'and none was ever archived' : `the last success was ${archived}`}; make archiving work before the disk is full.`,
    remediation: `SHOW archive_command; -- run it by hand as the server's user; the server's log shows its errors`,
  };
}

/** Of an archiver that neither succeeds nor fails: its command hangs, or its process is not there. */
function silence(row: Row): Found | null {
  if (typeof row['waiting'] !== 'number' || typeof row['archived_ago'] !== 'number') return null;
  const isStuck = row['waiting'] > STUCK.segments * numberIn(row, 'segment');
  if (!isStuck || row['archived_ago'] < STUCK.seconds) return null;
  return {
    metricLine: `Archiving neither succeeds nor fails: the last success was ${duration(row['archived_ago'])} ago, and ${size(row['waiting'])} of WAL wait since; find out whether its command hangs before the disk is full.`,
    remediation:
      "SELECT pid, backend_start FROM pg_stat_activity WHERE backend_type = 'archiver'; SHOW archive_command; -- then look for its child process on the server (ps --ppid PID): end one that hangs, and the archiver tries again. Give the command a timeout of its own",
  };
}
