import type { Check, Outcome } from '../../checks/check.ts';
import { CONN_CHECKS_INCOMPLETE } from '../../checks/connection-findings.ts';
import { counted } from '../../checks/wording.ts';
import { faultFinding, plainFinding, type Sample, shortfallOf } from '../outcome.ts';

// The line of a finding has 500 characters, and an id about 22.
const NAMED = 14;

/** Makes one finding that lists the checks that did not look at everything, for the size of a database or for lack of time. */
export function incompleteChecks(all: { check: Check; samples: Sample[] }[]): Outcome {
  const own = CONN_CHECKS_INCOMPLETE;
  const outcome = (finding: Outcome['findings'][number], measured: boolean): Outcome => ({
    ...{ check: own, findings: [finding], measured, unmeasured: [], near: [] },
  });
  const cut = (why: 'size' | 'time') =>
    all.flatMap(({ check, samples }) =>
      samples
        .filter((sample) => shortfallOf(sample) === why)
        .map(({ database }) => ({ id: check.id, database })),
    );
  const [size, time] = [cut('size'), cut('time')];
  if (size.length + time.length > 0) {
    const lines = [
      ...(size.length > 0 ? [`There are too many objects for ${list(size)}.`] : []),
      ...(time.length > 0 ? [`The time was too short for ${list(time)}.`] : []),
    ];
    const advice = [
      ...(size.length > 0 ? ['Remove tables and partitions that are no longer needed.'] : []),
      ...(time.length > 0
        ? ['Find out why the server answers slowly, and run the check again when it is less busy.']
        : []),
      'If the other checks are enough, silence this finding.',
    ];
    const fault = {
      ...{ severity: own.maxSeverity, object: null },
      ...{ metricLine: lines.join(' '), remediation: advice.join(' ') },
    };
    return outcome(faultFinding(own, '', fault), true);
  }
  const measured = all.some(({ samples }) => samples.some((sample) => 'judgement' in sample));
  return measured
    ? outcome(plainFinding(own, 'ok', 'No check was cut short by size or time.'), true)
    : outcome(plainFinding(own, 'error', 'Not measured: no check ran.'), false);
}

/** `2 checks (PG_DEAD_TUPLES, PG_STALE_STATS) in shop, warehouse`. */
function list(cut: readonly { id: string; database: string }[]): string {
  const ids = [...new Set(cut.map(({ id }) => id))];
  const databases = [...new Set(cut.map(({ database }) => database).filter((name) => name !== ''))];
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
  const where = databases.length === 0 ? '' : ` in ${databases.join(', ')}`;
  return `${counted(ids.length, 'check')} (${ids.slice(0, NAMED).join(', ')}${more})${where}`;
}
