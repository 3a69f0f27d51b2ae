import type { Check } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import { duration } from '../wording.ts';

// On a standby only archive_mode = always archives. The name of a WAL file contains no user data.
const sql = `
  select current_setting('archive_mode') = 'always'
           or current_setting('archive_mode') = 'on' and not pg_is_in_recovery() as archives,
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
  judge: (rows) => {
    const row = onlyRow(rows);
    if (row['archives'] !== true)
      return { faults: [], measures: [], passMessage: 'This server does not archive its WAL.' };
    const never = row['archived_ago'] === null;
    const archived = never ? '' : `${duration(numberIn(row, 'archived_ago'))} ago`;
    const passMessage = never ? 'No WAL has needed archiving yet.' : `WAL was last archived ${archived}.`;
    if (row['failing'] !== true) return { faults: [], measures: [], passMessage };
    return {
      passMessage,
      measures: [],
      faults: [
        {
          severity: 'critical',
          object: null,
          metricLine: `Archiving ${textIn(row, 'wal')} failed ${duration(numberIn(row, 'failed_ago'))} ago, ${never ? 'and none was ever archived' : `the last success was ${archived}`}; make archiving work before the disk is full.`,
          remediation: `SHOW archive_command; -- run it by hand as the server's user; the server's log shows its errors`,
        },
      ],
    };
  },
};
