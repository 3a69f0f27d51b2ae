import type { Check, Outcome } from '../../checks/check.ts';
import type { Catalogue } from '../../checks/engine-catalogue.ts';
import { isPrintable } from '../../platform/text/clean-text.ts';
import { faultFinding, LONGEST_REMEDIATION, nameInSentence, plainFinding, type Sample } from '../outcome.ts';
import type { DeniedVitals } from './measure-vitals.ts';

/**
 * Makes one finding that lists the checks and vitals that lack a privilege, and every GRANT that they need. It leaves out GRANTs
 * that give access to rows: only the check itself shows those.
 */
export function missingPrivileges(
  own: NonNullable<Catalogue['privilegeMissing']>,
  all: { check: Check; samples: Sample[] }[],
  vitals: readonly DeniedVitals[] = [],
): Outcome {
  const outcome = (findings: Outcome['findings'], measured: boolean): Outcome => ({
    check: own,
    findings,
    measured,
    unmeasured: [],
    near: [],
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
  if (asked.length + vitals.length > 0) return outcome([fault(own, asked, vitals)], true);
  const measured = all.some(({ samples }) => samples.some((sample) => 'judgement' in sample));
  return measured
    ? outcome([plainFinding(own, 'ok', 'No check lacks a privilege.')], true)
    : outcome([plainFinding(own, 'error', 'Not measured: no check ran.')], false);
}

function fault(
  own: Outcome['check'],
  asked: { check: Check; database: string; grant: string }[],
  vitals: readonly DeniedVitals[],
) {
  const checks = [...new Set(asked.map(({ check }) => check.id))];
  const list = `${checks.length} ${checks.length === 1 ? 'check lacks' : 'checks lack'} a privilege${placesIn(asked)}: ${checks.join(', ')}.`;
  const left = [...new Set(vitals.map(({ what }) => what))].join(', ');
  const lines = [
    ...(checks.length > 0 ? [list] : []),
    ...(vitals.length > 0
      ? [`Without a privilege${placesIn(vitals)} these vitals are not measured: ${left}.`]
      : []),
  ];
  const grants: string[] = [];
  for (const grant of new Set([...asked, ...vitals].map((each) => each.grant.trim().replace(/;?$/, ';')))) {
    // Only whole statements, so that each can be pasted.
    const fits = [...grants, grant].join(' ').length <= LONGEST_REMEDIATION;
    if (fits && isPrintable(grant)) grants.push(grant);
  }
  return faultFinding(own, '', {
    severity: 'info',
    object: null,
    metricLine: `${lines.join(' ')} The remediation grants it.`,
    remediation: grants.join(' '),
  });
}

/** ` (in shop, crm)`. */
function placesIn(denied: readonly { database: string }[]): string {
  const databases = [...new Set(denied.map(({ database }) => database).filter((name) => name !== ''))];
  return databases.length === 0 ? '' : ` (in ${databases.map(nameInSentence).join(', ')})`;
}
