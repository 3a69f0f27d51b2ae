import type { Judged, Judgement, Skipped } from '../src/checks/check.ts';
import { skippedLine } from '../src/checks/judgement-of.ts';

/** A judgement as the tests look at it: a check that was skipped has no faults, and its line names the GRANT. */
export type SeenJudgement = Partial<Judged & Skipped> & Pick<Judged, 'faults'>;

/** Both kinds of judgement in one shape. */
export function seen(judgement: Judgement): SeenJudgement {
  return 'skipped' in judgement ? { faults: [], ...judgement, skipped: skippedLine(judgement) } : judgement;
}
