import type { Check } from '../check.ts';
import type { Measure } from '../measure.ts';
import { percent, size } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { type Server, setAtStart, setForGood } from './setting-check.ts';

/** An hour's redo and the checkpoint's age, as shares of the log's size; the hour is MySQL's own rule of thumb. */
const thresholds = { warning: 1, critical_age: 0.8, minimum_seconds: 5 };
/** An hour's redo is estimated from at least ten minutes, so that a burst is not extrapolated. */
const SHORTEST = 600;
const STEP = 64 * 1024 * 1024;

const reads = figures({
  status: [
    ...['Uptime', 'Innodb_os_log_written'],
    ...['Innodb_lsn_current', 'Innodb_checkpoint_age', 'Innodb_checkpoint_max_age'],
    ...['Innodb_redo_log_current_lsn', 'Innodb_redo_log_checkpoint_lsn'],
  ],
  variables: ['innodb_redo_log_capacity', 'innodb_log_file_size', 'innodb_log_files_in_group'],
});

/** A redo log so small that InnoDB must flush pages early to make room in it. */
export const redoTooSmall: Check<typeof thresholds> = {
  id: 'MY_REDO_TOO_SMALL',
  title: 'Redo log is too small',
  category: 'durability',
  maxSeverity: 'critical',
  volatile: false,
  scope: 'server',
  comparesRuns: true,
  thresholds,
  sql: () => reads,
  judge: (rows, server) => {
    const {
      before,
      thresholds: { warning, critical_age, minimum_seconds },
    } = server;
    const now = new Figures(rows);
    const capacity = redoCapacity(now);
    const skip = (reason: string) => ({ skipped: `Not measured: ${reason}.` });
    if (!before) return skip('it takes two runs, and this is the first');
    if (before.seconds < minimum_seconds) return skip(`the last run was less than ${minimum_seconds} s ago`);
    const last = new Figures(before.rows);
    const bytes = written(now) - written(last);
    const restarted = !sequenceNumber(now) && now.number('Uptime') < before.seconds;
    if (bytes < 0 || restarted) return skip("the server's counters were reset since the last run");
    // A single high value is harmless: after a burst of 80 MB into a log of 96 MB, MariaDB fell from 91 % to 0 in 10 s.
    const used = Math.min(usedShare(now), usedShare(last));
    const hourly = (bytes / Math.max(SHORTEST, before.seconds)) * 3600;
    const age: Measure = {
      ...{ metric: 'redo_checkpoint_age_ratio', object: null, value: used, operator: '>=' },
      ...{ warning: null, critical: critical_age, limit: 1 },
    };
    const redo: Measure = {
      ...{ metric: 'redo_bytes_per_second', object: null, value: hourly / 3600, operator: '>=' },
      ...{ warning: (warning * capacity) / 3600, critical: null },
    };
    const measures = showsAge(now) ? [redo, age] : [redo];
    if (used >= critical_age) {
      return {
        passMessage: '',
        measures,
        faults: [
          {
            severity: 'critical',
            object: null,
            metricLine: `At least ${percent(used)} of the redo log of ${size(capacity)} waited for a checkpoint, in this run and the last: once it is full, every write waits; enlarge it.`,
            remediation: enlarge(now, server, 2 * capacity),
            measured: faultMeasure(age),
          },
        ],
      };
    }
    const passMessage = `${size(bytes)} of redo since the last run, with a redo log of ${size(capacity)}.`;
    if (hourly < warning * capacity) return { faults: [], passMessage, measures };
    return {
      passMessage,
      measures,
      faults: [
        {
          severity: 'warning',
          object: null,
          metricLine: `${size(hourly)} of redo an hour since the last run, but the redo log holds ${size(capacity)}; make it hold an hour of redo.`,
          remediation: enlarge(now, server, hourly / warning),
          measured: faultMeasure(redo),
        },
      ],
    };
  },
};

/** Size of the redo log in bytes: one setting from MySQL 8.0.30 on, one file in MariaDB, several in MySQL before. */
function redoCapacity(settings: Figures): number {
  if (settings.has('innodb_redo_log_capacity')) return settings.number('innodb_redo_log_capacity');
  return settings.number('innodb_log_file_size') * filesOf(settings);
}

function filesOf(settings: Figures): number {
  return settings.has('innodb_log_files_in_group') ? settings.number('innodb_log_files_in_group') : 1;
}

/**
 * The checkpoint's age as a share of its maximum: MariaDB shows the maximum, MySQL from 8.0.30 on is measured by
 * the capacity. 0 if the server does not show the age to every login, as MySQL before.
 */
function usedShare(status: Figures): number {
  if (status.has('Innodb_checkpoint_age'))
    return status.number('Innodb_checkpoint_age') / status.number('Innodb_checkpoint_max_age');
  if (!showsAge(status)) return 0;
  const age = status.number('Innodb_redo_log_current_lsn') - status.number('Innodb_redo_log_checkpoint_lsn');
  return age / redoCapacity(status);
}

/** Whether the server shows the age of its checkpoint to every login. */
function showsAge(status: Figures): boolean {
  return status.has('Innodb_checkpoint_age') || status.has('Innodb_redo_log_checkpoint_lsn');
}

/** Bytes of redo since some moment. The sequence number survives a restart; the other figure includes padding. */
function written(status: Figures): number {
  return status.number(sequenceNumber(status) ?? 'Innodb_os_log_written');
}

/** The figure that is the sequence number, in MariaDB and in MySQL from 8.0.30 on. */
function sequenceNumber(status: Figures): string | undefined {
  return ['Innodb_lsn_current', 'Innodb_redo_log_current_lsn'].find((name) => status.has(name));
}

function enlarge(settings: Figures, server: Server, bytes: number): string {
  const whole = Math.ceil(bytes / STEP) * STEP;
  if (settings.has('innodb_redo_log_capacity')) return setForGood(server, 'innodb_redo_log_capacity', whole);
  if (isMariaDb(server.version) && server.version >= 100_900)
    return setForGood(server, 'innodb_log_file_size', whole);
  const each = Math.ceil(whole / filesOf(settings));
  return setAtStart(server, 'innodb_log_file_size', each);
}
