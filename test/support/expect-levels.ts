import { expect } from 'vitest';
import type { Check, Thresholds } from '../../src/checks/check.ts';
import { type Level, thresholdFacts } from '../../src/checks/threshold-facts.ts';
import { judgeAgain } from '../../src/connections/thresholds/judge-again.ts';
import { SEVERITIES } from '../../src/vocabulary/severities.ts';
import type { SeenJudgement } from './seen-judgement.ts';

/**
 * Fails unless the levels of a check, as a preview of thresholds knows them, are those that it compares with: judged again
 * with the same thresholds, no finding changes.
 */
export function expectLevels(
  check: Pick<Check, 'id' | 'thresholds' | 'maxSeverity'>,
  { faults, measures = [] }: SeenJudgement,
  changed: Thresholds = {},
): void {
  const levels = thresholdFacts(check).flatMap(({ level }) => level ?? []);
  const values = { ...check.thresholds, ...changed };
  const last = { check_id: check.id, database: '' };
  const findings = faults.map(({ severity, object, measured }) => ({
    ...last,
    object,
    status: severity,
    measured,
  }));
  const compared = measures.flatMap(({ operator, ...measure }) =>
    operator === null ? [] : [{ ...last, ...measure, operator }],
  );
  expect(judgeAgain(check.id, { levels, values }, findings, compared).changed, check.id).toEqual([]);

  for (const { metric, warning, critical } of compared) {
    const own = levels.filter((level) => level.metric === metric);
    const mild = own.filter(({ severity }) => severity !== 'critical').toSorted(mildestFirst)[0];
    const grave = own.find(({ severity }) => severity === 'critical');
    for (const [level, used] of [
      [mild, warning],
      [grave, critical],
    ] as const) {
      if (!level || used === null) continue;
      const limit = (values[level.name] ?? Number.NaN) * level.factor;
      // Above 10 of what is counted is from 11 on.
      const most = /[=]/.test(level.comparison) ? 1e-9 * Math.abs(limit) : 1;
      expect(Math.abs(used - limit), `${check.id}.${level.name}`).toBeLessThanOrEqual(most);
    }
  }
}

function mildestFirst(one: Level, other: Level): number {
  return SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity);
}
