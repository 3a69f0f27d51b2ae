import { numberIn, textIn } from '../columns.ts';
import { counted, size } from '../wording.ts';
import { atLeast } from '../worst-measures.ts';
import { countedFrom, counterCheck, total } from './counter-check.ts';

/** Bytes an hour; dbvitals' own: less than that does not keep a disk busy. */
const thresholds = { warning_bytes_per_hour: 1024 ** 3 };

// A single large sort is no rate: what was written since the last run counts as if it had taken so long at least.
const LEAST_MINUTES = 10;

// work_mem is in kB; what the watching session was given is the server's own unless somebody set it for the role.
const sql = `
  select quote_ident(datname) as object,
         temp_files::float8 as files,
         temp_bytes::float8 as bytes,
         (select setting::float8 from pg_settings where name = 'work_mem') as work_mem,
         ${countedFrom}
    from pg_stat_database
   where datid <> 0
   order by datname`;

const perHour = (bytes: number, minutes: number) => (bytes / Math.max(minutes, LEAST_MINUTES)) * 60;

/** Databases whose sorts and hashes exceed work_mem and spill to disk. */
export const tempFiles = counterCheck({
  id: 'PG_TEMP_FILES',
  title: 'Many temporary files',
  category: 'performance',
  maxSeverity: 'warning',
  thresholds,
  sql: () => sql,
  counters: ['files', 'bytes'],
  measure: (grown, minutes, { thresholds: { warning_bytes_per_hour } }) => ({
    ...atLeast('temporary_bytes_per_second', warning_bytes_per_hour / 3600),
    object: textIn(grown, 'object'),
    value: perHour(numberIn(grown, 'bytes'), minutes) / 3600,
  }),
  fault: (grown, minutes, facts) => {
    const { warning_bytes_per_hour } = facts.thresholds;
    const database = textIn(grown, 'object');
    const [files, bytes] = [numberIn(grown, 'files'), numberIn(grown, 'bytes')];
    if (perHour(bytes, minutes) < warning_bytes_per_hour) return null;
    const workMem = numberIn(grown, 'work_mem');
    return {
      severity: 'warning',
      object: database,
      metricLine: `Database ${database}: ${size(bytes)} in ${counted(files, 'temporary file')} since the last run, ${size(perHour(bytes, minutes))} an hour; raise work_mem above its ${size(workMem * 1024)}, or avoid the sort.`,
      remediation: `ALTER DATABASE ${database} SET work_mem = '${workMem * 2}kB'; -- for new sessions, each sort and each hash; log_temp_files names the statements`,
    };
  },
  passMessage: (grown) => {
    const files = total(grown, 'files');
    return `${counted(files, 'temporary file')} of ${size(total(grown, 'bytes'))} in all since the last run.`;
  },
});
