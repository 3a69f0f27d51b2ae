import type { ReportedMeasured } from '../collected/accept-measured.ts';
import type { Measured } from '../nothing-measured.ts';

/** The largest result that the service takes, with room for the rest of the message. */
const LARGEST = 4 * 1024 * 1024 - 10_000;

/**
 * What is sent of a result. If it is too large, the largest parts that the next run reports again are left out: readings of schemas,
 * then what queries did. What is not reported counts as not read. `takes` are the added fields that the service takes.
 */
export function toReport(
  { hostKey: _key, failure: _failure, leftOut, ...measured }: Measured,
  takes: ReadonlySet<string>,
): ReportedMeasured {
  const report: ReportedMeasured = {
    ...measured,
    outcomes: measured.outcomes.map(toOutcome),
    ...(takes.has('leftOut') && { leftOut }),
  };
  if (report.queries && !takes.has('catalogue')) {
    const { catalogue: _catalogue, ...queries } = report.queries;
    report.queries = queries;
  }
  const readings = report.readings.map((reading) => ({ reading, bytes: sizeOf(reading) }));
  readings.sort((one, other) => other.bytes - one.bytes);
  let bytes = sizeOf(report);
  while (bytes > LARGEST && readings.length > 0) bytes -= readings.shift()?.bytes ?? 0;
  const kept = new Set(readings.map(({ reading }) => reading));
  report.readings = report.readings.filter((reading) => kept.has(reading));
  return bytes > LARGEST ? { ...report, queries: null } : report;
}

/** What is kept of a result that is delivered late: the service compares nothing with it. */
export function toHistory({ leftOut: _leftOut, ...report }: ReportedMeasured): ReportedMeasured {
  return { ...report, samples: [], readings: [], queries: null };
}

function toOutcome({
  check,
  findings,
  ...outcome
}: Measured['outcomes'][number]): ReportedMeasured['outcomes'][number] {
  return {
    ...outcome,
    check: { id: check.id },
    findings: findings.map(({ check_id: _id, category: _category, title: _title, ...finding }) => finding),
  };
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
