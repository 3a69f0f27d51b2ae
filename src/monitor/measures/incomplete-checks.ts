import type { Check, Outcome } from '../../checks/check.ts';
import { CONN_CHECKS_INCOMPLETE } from '../../checks/connection-findings.ts';
import { counted } from '../../checks/wording.ts';
import {
  faultFinding,
  findShortfall,
  listed,
  nameInSentence,
  plainFinding,
  type Sample,
} from '../outcome.ts';

// The line of a finding has 500 characters, and an id about 22.
const NAMED = 6;

/** So many databases are named in the line. */
const SHOWN = 3;

/** The longest list of databases in the remediation, in characters. */
const DATABASES = 3_000;

type Cut = { id: string; database: string };

/**
 * Makes one finding that lists the checks that did not look at everything: for the size of a database, for lack of time, or
 * because they failed. Failures alone are a note: most are a lock that the next run does not meet.
 */
export function incompleteChecks(all: { check: Check; samples: Sample[] }[]): Outcome {
  const own = CONN_CHECKS_INCOMPLETE;
  const outcome = (finding: Outcome['findings'][number], measured: boolean): Outcome => ({
    check: own,
    findings: [finding],
    measured,
    unmeasured: [],
    near: [],
  });
  const cut = (why: ReturnType<typeof findShortfall>) =>
    all.flatMap(({ check, samples }) =>
      samples
        .filter((sample) => findShortfall(sample) === why)
        .map(({ database }) => ({ id: check.id, database })),
    );
  const [size, time, failures] = [cut('size'), cut('time'), cut('failure')];
  const measured = all.some(({ samples }) => samples.some((sample) => 'judgement' in sample));
  if (size.length + time.length > 0 || (measured && failures.length > 0)) {
    const lines = [
      ...(size.length > 0 ? [`There are too many objects for ${list(size)}.`] : []),
      ...(time.length > 0 ? [`The time was too short for ${list(time)}.`] : []),
      ...(failures.length > 0 ? [`${list(failures)} failed.`] : []),
    ];
    const isFailure = size.length + time.length === 0;
    const severity = isFailure ? ('info' as const) : own.maxSeverity;
    const remediation = adviceFor(size, time, failures).join(' ');
    const fault = { severity, object: null, metricLine: lines.join(' '), remediation };
    return outcome(faultFinding(own, '', fault), true);
  }
  return measured
    ? outcome(plainFinding(own, 'ok', 'No check failed, or was cut short by size or time.'), true)
    : outcome(plainFinding(own, 'error', 'Not measured: no check ran.'), false);
}

function adviceFor(size: readonly Cut[], time: readonly Cut[], failures: readonly Cut[]): string[] {
  const places = listCutDatabases([...time, ...failures]);
  return [
    ...(size.length > 0 ? ['Remove tables and partitions that are no longer needed.'] : []),
    ...(time.length > 0
      ? ['Find out why the server answers slowly, and run the check again when it is less busy.']
      : []),
    ...(failures.length > 0 ? ['Read in the findings of these checks why they failed.'] : []),
    ...(places.length > SHOWN
      ? [`These databases were not measured whole: ${listed(places, DATABASES)}.`]
      : []),
    ...(places.length > SHOWN && time.length > 0
      ? ['The next run begins with those that this one did not reach.']
      : []),
    'If the other checks are enough, silence this finding.',
  ];
}

/** `2 checks (PG_DEAD_TUPLES, PG_STALE_STATS) in shop, warehouse`. */
function list(cut: readonly Cut[]): string {
  const ids = [...new Set(cut.map(({ id }) => id))];
  const places = listCutDatabases(cut);
  const more = ids.length > NAMED ? ` and ${ids.length - NAMED} more` : '';
  const shown =
    places.length <= SHOWN
      ? places.join(', ')
      : `${counted(places.length, 'database')}, such as ${places[0]}`;
  const where = places.length === 0 ? '' : ` in ${shown}`;
  return `${counted(ids.length, 'check')} (${ids.slice(0, NAMED).join(', ')}${more})${where}`;
}

function listCutDatabases(cut: readonly Cut[]): string[] {
  return [...new Set(cut.map(({ database }) => nameInSentence(database)))].filter((name) => name !== '');
}
