import type { Catalogue } from '../checks/catalogue.ts';
import type { Check, Outcome } from '../checks/check.ts';
import { isPrintable } from '../vocabulary/clean-text.ts';
import { faultFinding, LONGEST_REMEDIATION, plainFinding, type Sample } from './outcome.ts';

/**
 * Makes one finding that lists the checks that lack a privilege, and every GRANT that they need. It leaves out GRANTs
 * that give access to rows: only the check itself shows those.
 */
export function missingPrivileges(
  own: Catalogue['privilegeMissing'],
  all: { check: Check; samples: Sample[] }[],
): Outcome {
  const outcome = (findings: Outcome['findings'], measured: boolean): Outcome => ({
    ...{ check: own, findings, measured },
    ...{ unmeasured: [], near: [] },
  });
  const asked = all.flatMap(({ check, samples }) =>
    samples.flatMap((sample) => {
      if (check.grantReadsRows) return [];
      if (!('judgement' in sample)) return [];
      const { judgement } = sample;
      if (!('skipped' in judgement) || judgement.grant === undefined) return [];
      return [{ ...sample, check, grant: judgement.grant }];
    }),
  );
  if (asked.length > 0) return outcome([fault(own, asked)], true);
  const measured = all.some(({ samples }) => samples.some((sample) => 'judgement' in sample));
  return measured
    ? outcome([plainFinding(own, 'ok', 'No check lacks a privilege.')], true)
    : outcome([plainFinding(own, 'error', 'Not measured: no check ran.')], false);
}

function fault(own: Outcome['check'], asked: { check: Check; database: string; grant: string }[]) {
  const checks = [...new Set(asked.map(({ check }) => check.id))];
  const databases = [...new Set(asked.map(({ database }) => database).filter((name) => name !== ''))];
  const where = databases.length === 0 ? '' : ` (in ${databases.join(', ')})`;
  const grants: string[] = [];
  for (const grant of new Set(asked.map((each) => each.grant.trim().replace(/;?$/, ';')))) {
    // Only whole statements, so that each can be pasted.
    const fits = [...grants, grant].join(' ').length <= LONGEST_REMEDIATION;
    if (fits && isPrintable(grant)) grants.push(grant);
  }
  return faultFinding(own, '', {
    severity: 'info',
    object: null,
    metricLine: `${checks.length} ${checks.length === 1 ? 'check lacks' : 'checks lack'} a privilege${where}: ${checks.join(', ')}. The remediation grants it.`,
    remediation: grants.join(' '),
  });
}
