import type { Check, Judgement, Row, ServerFacts, Skipped, Thresholds } from './check.ts';

/** What is known of a server before a check's defaults are filled in. */
export interface JudgementInput extends Omit<ServerFacts, 'thresholds'> {
  /** Those of the check's thresholds that the connection sets otherwise. */
  thresholds?: Thresholds;
}

/** What a check makes of its rows; a threshold that is not given is the check's own. Throws what `judge` throws. */
export function judgementOf(check: Check, rows: Row[], facts: JudgementInput): Judgement {
  return check.judge(rows, { ...facts, thresholds: { ...check.thresholds, ...facts.thresholds } });
}

/** Why a check was skipped, with the GRANT that is missing: `Not measured: … are hidden. Run GRANT …;`. */
export function skippedLine({ skipped, grant }: Skipped): string {
  return grant === undefined ? skipped : `${skipped} Run ${grant}`;
}
