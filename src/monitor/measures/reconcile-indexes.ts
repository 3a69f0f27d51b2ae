import type { Check } from '../../checks/check.ts';
import type { Row } from '../../checks/fault.ts';
import { type IndexPlan, planIndexes } from '../../checks/index-plan.ts';
import { type JudgementInput, judgementOf } from '../../checks/judgement-of.ts';
import type { MeasuredSample, Sample } from '../outcome.ts';

/** The sample of a check whose statements gave these rows. */
export function judgedSample(
  check: Check,
  rows: Row[],
  facts: JudgementInput,
  database: string,
): MeasuredSample {
  const judgement = judgementOf(check, rows, facts);
  if (!('indexAdvice' in judgement)) return { database, judgement };
  const judgeByPlan = (indexPlan: IndexPlan) => judgementOf(check, rows, { ...facts, indexPlan });
  return { database, judgement, judgeByPlan };
}

/** Judges the checks of indexes again, in each database, so that all their advice can be followed together. */
export function reconcileIndexes(samples: readonly Sample[]): void {
  const advising = samples.flatMap((sample) => ('judgeByPlan' in sample ? [sample] : []));
  for (const own of Map.groupBy(advising, ({ database }) => database).values()) {
    const items = own.flatMap(({ judgement }) =>
      'indexAdvice' in judgement ? (judgement.indexAdvice ?? []) : [],
    );
    const plan = planIndexes(items);
    if (plan.size === 0) continue;
    for (const sample of own) if (sample.judgeByPlan) sample.judgement = sample.judgeByPlan(plan);
  }
}
