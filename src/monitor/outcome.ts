import type { Finding, Judgement, Outcome, Skipped } from '../checks/check.ts';
import type { Fault } from '../checks/fault.ts';
import type { IndexPlan } from '../checks/index-plan.ts';
import { skippedLine } from '../checks/judgement-of.ts';
import { cleanText, escapedName, isPrintable, UNPRINTABLE } from '../platform/text/clean-text.ts';

/** The result of a check in one database, or on the server (`database` is ''). */
export type Sample =
  | MeasuredSample
  | { database: string; failed: string; status: 'error' | 'skipped'; outOfTime?: true; unreached?: true };

/** A sample whose statements ran. */
export interface MeasuredSample {
  database: string;
  judgement: Judgement;
  /** If it advises on indexes: judges the same rows again, by the plan of all such checks. */
  judgeByPlan?: (plan: IndexPlan) => Judgement;
}

// Maximum lengths of texts that come from a monitored server, in characters.
const LINE = 500;
// The longest object is three names of 63 bytes, each byte escaped: it is never cut, so that no two become one.
const OBJECT = 1_000;

/** The longest remediation that is shown, in characters. */
export const LONGEST_REMEDIATION = 4_000;

/**
 * Joins the samples of a check to its outcome: its faults, and where it could not look; or one finding without a fault.
 */
export function outcomeOf(check: Outcome['check'], samples: Sample[]): Outcome {
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
    findings:
      faults.length > 0
        ? [
            ...faults,
            ...unseenFindings(check, samples).map((each) => ({ ...each, status: 'error' as const })),
          ]
        : [quietFinding(check, samples)],
    measured: measured.length > 0,
    unmeasured: samples
      .map(({ database }) => database)
      .filter((database) => !complete.includes(database))
      .map((database) => cleanObject(database)),
    near: measured.flatMap(({ database, judgement }) =>
      (judgement.near ?? []).map((object) => ({
        database: cleanObject(database),
        object: cleanObject(object),
      })),
    ),
    ...(samples.some((sample) => ['size', 'time'].includes(findShortfall(sample) ?? '')) && {
      incomplete: true,
    }),
  };
}

/**
 * Why a check did not look at everything: there are too many objects, the time was over, or it failed; null if it looked at
 * all, or its login may not.
 */
export function findShortfall(sample: Sample): 'size' | 'time' | 'failure' | null {
  if ('failed' in sample && sample.outOfTime === true) return 'time';
  if ('failed' in sample) return sample.status === 'error' ? 'failure' : null;
  return sample.judgement.skippedForSize === true ? 'size' : null;
}

/** The finding of a check without a fault. */
export function plainFinding(
  check: Outcome['check'],
  status: 'ok' | 'skipped' | 'error',
  line: string,
): Finding {
  return {
    ...checkFields(check),
    status,
    metric_line: cleanText(line, LINE),
    remediation: '',
    severity: check.maxSeverity,
    database: '',
    object: null,
  };
}

/** The finding of a fault. Texts from the server are cleaned and shortened, except the remediation. */
export function faultFinding(check: Outcome['check'], database: string, fault: Fault): Finding {
  return {
    ...checkFields(check),
    status: fault.severity,
    metric_line: cleanText(fault.metricLine, LINE),
    remediation: exactRemediation(fault.remediation),
    severity: fault.severity,
    database: cleanObject(database),
    object: cleanObject(fault.object),
    ...(fault.measured && Number.isFinite(fault.measured.value) && { measured: fault.measured }),
  };
}

// An error outweighs skipped, and both outweigh ok: a check that was not measured everywhere is never ok.
function quietFinding(check: Outcome['check'], samples: Sample[]): Finding {
  const [unseen] = unseenFindings(check, samples);
  if (unseen) return unseen;
  const first = samples.find((sample) => 'judgement' in sample && 'skipped' in sample.judgement);
  if (first && 'judgement' in first && 'skipped' in first.judgement)
    return skippedFinding(check, first.judgement);
  if (samples.length === 0) {
    return plainFinding(check, 'skipped', 'Not measured: the login can connect only to template databases.');
  }
  const lines = samples.flatMap((sample) =>
    'judgement' in sample && 'passMessage' in sample.judgement ? [sample.judgement.passMessage] : [],
  );
  return plainFinding(check, 'ok', [...new Set(lines)].join('; '));
}

/** One finding that names every database where a check failed, or lacks a privilege; none if there is no such. */
function unseenFindings(check: Outcome['check'], samples: Sample[]): Finding[] {
  const unseen = samples.flatMap((sample) => {
    const { database } = sample;
    if ('failed' in sample) return [{ database, status: sample.status, skipped: { skipped: sample.failed } }];
    const { judgement } = sample;
    const isBlind = 'skipped' in judgement && judgement.grant !== undefined;
    return isBlind ? [{ database, status: 'skipped' as const, skipped: judgement }] : [];
  });
  const first = unseen.find(({ status }) => status === 'error') ?? unseen[0];
  if (!first) return [];
  const others = unseen.filter((each) => each !== first).map(({ database }) => nameInSentence(database));
  const finding = skippedFinding(check, first.skipped, first.status);
  if (others.length === 0) return [finding];
  const line = `${finding.metric_line} Nor was it measured in ${listed(others, LINE - 60 - finding.metric_line.length)}.`;
  return [{ ...finding, metric_line: cleanText(line, LINE) }];
}

/**
 * The name of a database in a sentence: in quotes unless it is one word, because the server may have sent anything as a name,
 * and people copy sentences too.
 */
export function nameInSentence(database: string): string {
  const name = cleanObject(database);
  return name !== database || /^(`?)[\p{L}\p{N}_.$-]*\1$/u.test(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

/** The names that fit into so many characters, and how many more there are: `shop, warehouse and 3 more`. */
export function listed(names: readonly string[], length: number): string {
  let fits = 1;
  while (fits < names.length && names.slice(0, fits + 1).join(', ').length <= length) fits++;
  const more = names.length - fits;
  return `${names.slice(0, fits).join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function skippedFinding(
  check: Outcome['check'],
  skipped: Skipped,
  status: 'skipped' | 'error' = 'skipped',
): Finding {
  const finding = plainFinding(check, status, skippedLine(skipped));
  if (skipped.grant === undefined) return finding;
  return { ...finding, missing_grant: exactRemediation(skipped.grant) };
}

/**
 * A remediation is pasted, so it is shown as it is or not at all: with one character less it would be a statement about
 * another object.
 */
export function exactRemediation(remediation: string): string {
  if (!isPrintable(remediation)) {
    return 'No statement is shown: a name contains characters that do not print. Rename the object, or write the statement by hand.';
  }
  if (remediation.length > LONGEST_REMEDIATION) {
    return `No statement is shown: it would be longer than ${LONGEST_REMEDIATION} characters.`;
  }
  return remediation;
}

function checkFields({
  id,
  category,
  title,
}: Outcome['check']): Pick<Finding, 'check_id' | 'category' | 'title'> {
  return { check_id: id, category, title };
}

/** The data of a check that an outcome needs, without the functions: a pipe can't send those. */
export function plainCheck({
  id,
  category,
  title,
  volatile,
  maxSeverity,
}: Outcome['check']): Outcome['check'] {
  return { id, category, title, volatile, maxSeverity };
}

/**
 * The name of an object or a database, safe to store. Two names stay two: characters that do not print are escaped, as
 * in `U&"good\\000Aone"`.
 */
export function cleanObject<T extends string | null>(object: T): T | string {
  if (object === null) return object;
  const plain = !UNPRINTABLE.test(object) && object === object.trim();
  return cleanText(plain ? object : escapedName(object), OBJECT);
}
