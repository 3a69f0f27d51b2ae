import type { Check, ServerFacts } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { counted, duration } from '../wording.ts';
import { atLeast, countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import { LOST_AT } from './counted-since.ts';

/** Hours for which a failure is reported: a damaged page that is not read again is not counted again. */
const thresholds = { stands_hours: 24 };

// The row without a name is for the shared catalogs. The timeline is another after a failover, or a restore to a point in time.
// Before 15 the server writes a time of reset also when it begins to count anew, at the first count after a crash.
const sql = (version: number) => `
  select quote_ident(datname) as object,
         coalesce(checksum_failures, 0)::float8 as failures,
         extract(epoch from now() - checksum_last_failure)::float8 as age,
         extract(epoch from now())::float8 as clock,
         extract(epoch from stats_reset)::float8 as reset,
         ${version < 150_000} as reset_at_first,
         extract(epoch from ${LOST_AT})::float8 as counted_from,
         (select timeline_id from pg_control_checkpoint()) as timeline,
         current_setting('data_checksums') = 'on' as enabled
    from pg_stat_database
   order by datname`;

/** Failures that a crash made the server forget, and when the last of them was, by its clock. */
interface Forgotten {
  forgotten: number;
  forgotten_at: number;
}

const NOTHING: Forgotten = { forgotten: 0, forgotten_at: 0 };

/**
 * What the server forgot of the failures of a database. A crash loses all its statistics, although nothing is repaired; a reset
 * of the statistics of a database is somebody's decision, and another server has pages of its own.
 */
function forgottenBy(row: Row, before: ServerFacts['before']): Forgotten {
  const last = before?.rows.find(({ object }) => object === row['object']);
  if (last?.['counted_from'] === undefined || last['timeline'] !== row['timeline']) return NOTHING;
  const isLost = last['counted_from'] !== row['counted_from'];
  const isFirst = row['reset_at_first'] === true && last['reset'] === null;
  if (!isLost && !isFirst && last['reset'] !== row['reset']) return NOTHING;
  const { forgotten, forgotten_at } = last as Partial<Forgotten>;
  const known = { forgotten: forgotten ?? 0, forgotten_at: forgotten_at ?? 0 };
  const counted = numberIn(last, 'failures');
  if (!isLost || counted <= numberIn(row, 'failures')) return known;
  return {
    forgotten: known.forgotten + counted,
    forgotten_at: Math.max(known.forgotten_at, numberIn(last, 'clock') - numberIn(last, 'age')),
  };
}

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
  sql,
  keeps: (rows, before) => rows.map((row) => ({ ...row, ...forgottenBy(row, before) })),
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
      const { forgotten, forgotten_at } = forgottenBy(row, facts.before);
      const seen = numberIn(row, 'failures');
      const failures = seen + forgotten;
      if (failures === 0) return [];
      const last = facts.before?.rows.find((one) => one['object'] === database);
      const age = seen > 0 ? numberIn(row, 'age') : Math.max(0, numberIn(row, 'clock') - forgotten_at);
      const risen = last !== undefined && seen > numberIn(last, 'failures');
      if (!risen && age >= stands_hours * 3600) return [];
      const place = database === null ? 'The shared catalogs' : `Database ${database}`;
      const measure = { ...atLeast('checksum_failures_count', null, 1), object: database, value: failures };
      measures.push(measure);
      return [
        {
          severity: 'critical',
          object: database,
          metricLine: `${place}: ${counted(failures, 'checksum failure')}, the last ${duration(age)} ago${forgotten > 0 ? ', which the server forgot in a crash' : ''}; restore the damaged files from a backup, and check the disk.`,
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
