import type { Judged, Judgement, Skipped } from '../../src/checks/check.ts';
import { skippedLine } from '../../src/checks/judgement-of.ts';

/** A judgement in the tests' format: a skipped check has no faults, and its line names the GRANT. */
export type SeenJudgement = Partial<Judged & Skipped> & Pick<Judged, 'faults'>;

/** Converts both kinds of judgement to one format. */
export function seen(judgement: Judgement): SeenJudgement {
  return 'skipped' in judgement ? { faults: [], ...judgement, skipped: skippedLine(judgement) } : judgement;
}
