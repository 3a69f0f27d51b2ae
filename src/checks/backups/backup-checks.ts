import type { Check, Judged, Skipped, Thresholds } from '../check.ts';
import type { Fault } from '../fault.ts';
import { duration, percent, size } from '../wording.ts';
import { atLeast, atMost, crosses, faultMeasure, uncompared } from '../worst-measures.ts';

/** What is known of a connection's backups: what their jobs and tools reported, and what is expected. Times in seconds. */
export interface BackupFacts {
  /** 0 = no backup is expected. */
  expectedSeconds: number;
  /** How long ago the first one was expected. Null if none ever was. */
  expectedFor: number | null;
  /** The age of the last success. Null if none is known. */
  age: number | null;
  /** The age of the last failure. Null if none is known. */
  failedAge: number | null;
  /** The size of the last success that has one. Null if none has. */
  bytes: number | null;
  /** The size of the one before it, of the same source. Null if there is none. */
  bytesBefore: number | null;
}

/** No backup succeeded within the time in which the connection expects one. */
export const BACKUP_STALE = {
  id: 'BACKUP_STALE',
  title: 'Backup overdue',
  category: 'durability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** The last backup is much smaller than the one before. */
export const BACKUP_SHRANK = {
  id: 'BACKUP_SHRANK',
  title: 'Backup shrank',
  category: 'durability',
  maxSeverity: 'warning',
  volatile: false,
  thresholds: { warning: 0.5 },
} as const satisfies Partial<Check>;

/** The checks of backups. They judge what was reported, so they need no connection to the server. */
export const backupChecks = [BACKUP_STALE, BACKUP_SHRANK];

/** Judges the age of the last backup that succeeded. */
export function judgeAge({ expectedSeconds, expectedFor, age, failedAge }: BackupFacts): Judged {
  const last = age === null ? 'No backup was reported yet' : `The last backup succeeded ${duration(age)} ago`;
  const passMessage = expectedSeconds === 0 ? `${last}; none is expected.` : `${last}.`;
  const scale = expectedSeconds === 0 ? uncompared(AGE) : atLeast(AGE, null, expectedSeconds);
  const measures = age === null ? [] : [{ ...scale, object: null, value: age }];
  const overdue = age ?? expectedFor ?? 0;
  const failed = failedAge !== null && (age === null || failedAge < age);
  const why = failed ? ` The last attempt failed ${duration(failedAge)} ago.` : '';
  const faults: Fault[] = [];
  if (expectedSeconds > 0 && overdue >= expectedSeconds) {
    const [measure] = measures;
    faults.push({
      severity: 'critical',
      object: null,
      metricLine: `${last}, and one is expected within ${duration(expectedSeconds)}.${why}`,
      remediation: OVERDUE,
      ...(measure && { measured: faultMeasure(measure) }),
    });
  } else if (expectedSeconds > 0 && failed) {
    faults.push({ severity: 'warning', object: null, metricLine: `${last}.${why}`, remediation: OVERDUE });
  }
  return { faults, passMessage, measures };
}

const AGE = 'backup_age_seconds';
const OVERDUE =
  'Read the log of the backup job, correct what it says, and run the job again. "dbvitals backup history" lists what was reported.';

/** Judges the size of the last backup by that of the one before. */
export function judgeSize(
  { bytes, bytesBefore }: BackupFacts,
  { warning = 0.5 }: Thresholds,
): Judged | Skipped {
  if (bytes === null) return { skipped: 'Not measured: no backup with its size was reported.' };
  const total = { ...uncompared('backup_size_bytes'), object: null, value: bytes };
  if (bytesBefore === null)
    return {
      faults: [],
      passMessage: `The last backup has ${size(bytes)}; it is the first.`,
      measures: [total],
    };
  const ratio = { ...atMost('backup_size_ratio', warning), object: null, value: bytes / bytesBefore };
  const line = `The last backup has ${size(bytes)}, ${percent(ratio.value)} of the ${size(bytesBefore)} of the one before.`;
  const fault: Fault = {
    severity: 'warning',
    object: null,
    metricLine: line,
    remediation:
      'Check what the last backup contains: a database, a schema or a volume may be missing. If data was deleted on purpose, silence this until the next backup.',
    measured: faultMeasure(ratio),
  };
  return {
    faults: crosses(ratio, warning) ? [fault] : [],
    passMessage: line,
    measures: [ratio, total],
  };
}
