import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textOrNone } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, countOf, faultMeasure, worstOf } from '../worst-measures.ts';

/** Hours for which a failure is reported: a damaged page that is not read again is not counted again. */
const thresholds = { stands_hours: 24 };

// The row without a name is for the shared catalogs.
const sql = `
  select quote_ident(datname) as object,
         coalesce(checksum_failures, 0)::float8 as failures,
         extract(epoch from now() - checksum_last_failure)::float8 as age,
         current_setting('data_checksums') = 'on' as enabled
    from pg_stat_database
   order by datname`;

/** Pages that the disk returned with other contents than were written. */
export const checksumFailures: Check<typeof thresholds> = {
  id: 'PG_CHECKSUM_FAILURES',
  title: 'Damaged pages',
  category: 'durability',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  comparesRuns: true,
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const { stands_hours } = facts.thresholds;
    const passMessage = `No checksum failure since the last run or within ${stands_hours} h.`;
    if (onlyRow(rows.slice(0, 1))['enabled'] !== true) {
      const skipped = 'Not measured: data checksums are off, so damaged pages go unnoticed.';
      return { skipped };
    }
    const measures: Measure[] = [];
    const faults = rows.flatMap((row): Fault[] => {
      const database = textOrNone(row, 'object') ?? null;
      const failures = numberIn(row, 'failures');
      if (failures === 0) return [];
      const last = facts.before?.rows.find((one) => one['object'] === database);
      const age = numberIn(row, 'age');
      const risen = last !== undefined && failures > numberIn(last, 'failures');
      if (!risen && age >= stands_hours * 3600) return [];
      const place = database === null ? 'The shared catalogs' : `Database ${database}`;
      const measure = { ...atLeast('checksum_failures_count', null, 1), object: database, value: failures };
      measures.push(measure);
      return [
        {
          severity: 'critical',
          object: database,
          metricLine: `${place}: ${counted(failures, 'checksum failure')}, the last ${duration(age)} ago; restore the damaged files from a backup, and check the disk.`,
          remediation: `SELECT pg_current_logfile(); -- the server's log names the damaged files ("invalid page in block"): restore them from a backup, on another disk`,
          measured: faultMeasure(measure),
        },
      ];
    });
    return {
      faults: faults.slice(0, FAULT_LIMIT),
      passMessage,
      measures: [countOf('databases_with_damaged_pages_count', faults.length), ...worstOf(measures)],
      truncated: faults.length > FAULT_LIMIT,
    };
  },
};
