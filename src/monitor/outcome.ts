import type { Check, Fault, Finding, Judgement, Outcome, Skipped } from '../checks/check.ts';
import { skippedLine } from '../checks/judgement-of.ts';
import { cleanText } from './clean-text.ts';

/** What came of a check in one database, or on the server ('' then). */
export type Sample =
  | { database: string; judgement: Judgement }
  | { database: string; failed: string; status: 'error' | 'skipped' };

// How much of a text that a monitored server had a part in is kept, in characters.
const LINE = 500;
const STATEMENT = 1_000;
const OBJECT = 200;

/** Joins the samples of a check to what the run says about it: its faults, else the one finding. */
export function outcomeOf(check: Check, samples: Sample[]): Outcome {
  const measured = samples.flatMap((sample) =>
    'judgement' in sample && !('skipped' in sample.judgement)
      ? [{ database: sample.database, judgement: sample.judgement }]
      : [],
  );
  const faults = measured.flatMap(({ database, judgement }) =>
    judgement.faults.map((fault) => faultFinding(check, database, fault)),
  );
  const complete = measured
    .filter(({ judgement }) => judgement.truncated !== true)
    .map(({ database }) => database);
  return {
    check: plainCheck(check),
    findings: faults.length > 0 ? faults : [quietFinding(check, samples)],
    measured: measured.length > 0,
    unmeasured: samples.map(({ database }) => database).filter((database) => !complete.includes(database)),
    near: measured.flatMap(({ database, judgement }) =>
      (judgement.near ?? []).map((object) => ({ database, object: cleanObject(object) })),
    ),
  };
}

/** The finding of a check that found nothing at fault. */
export function plainFinding(
  check: Outcome['check'],
  status: 'ok' | 'skipped' | 'error',
  line: string,
): Finding {
  return {
    ...named(check),
    status,
    metric_line: cleanText(line, LINE),
    remediation: '',
    severity: check.maxSeverity,
    database: '',
    object: null,
  };
}

/** The finding of a fault; what a server had a part in is cleaned and cut. */
export function faultFinding(check: Outcome['check'], database: string, fault: Fault): Finding {
  return {
    ...named(check),
    status: fault.severity,
    metric_line: cleanText(fault.metricLine, LINE),
    remediation: cleanText(fault.remediation, STATEMENT),
    severity: fault.severity,
    database: cleanText(database, OBJECT),
    object: cleanObject(fault.object),
  };
}

// An error outweighs what was skipped, and both outweigh ok: what was not measured everywhere is not called well.
function quietFinding(check: Check, samples: Sample[]): Finding {
  for (const status of ['error', 'skipped'] as const) {
    const [first] = samples.flatMap((sample) => {
      if ('failed' in sample) return sample.status === status ? [{ skipped: sample.failed }] : [];
      return status === 'skipped' && 'skipped' in sample.judgement ? [sample.judgement] : [];
    });
    if (first) return skippedFinding(check, status, first);
  }
  if (samples.length === 0) {
    return plainFinding(
      check,
      'skipped',
      'Not measured: the login may connect to no database but templates.',
    );
  }
  const lines = samples.flatMap((sample) =>
    'judgement' in sample && 'passMessage' in sample.judgement ? [sample.judgement.passMessage] : [],
  );
  return plainFinding(check, 'ok', [...new Set(lines)].join('; '));
}

function skippedFinding(check: Check, status: 'skipped' | 'error', skipped: Skipped): Finding {
  const finding = plainFinding(check, status, skippedLine(skipped));
  if (skipped.grant === undefined) return finding;
  return { ...finding, missing_grant: cleanText(skipped.grant, STATEMENT) };
}

function named({ id, category, title }: Outcome['check']): Pick<Finding, 'check_id' | 'category' | 'title'> {
  return { check_id: id, category, title };
}

/** What an outcome says of its check: without the functions, which no pipe carries. */
export function plainCheck({
  id,
  category,
  title,
  volatile,
  maxSeverity,
}: Outcome['check']): Outcome['check'] {
  return { id, category, title, volatile, maxSeverity };
}

function cleanObject(object: string | null): string | null {
  return object === null ? null : cleanText(object, OBJECT);
}
