import type { Check, Judgement, Row, ServerFacts, Thresholds } from './check.ts';

/** What is known of a server before a check's defaults are filled in. */
export interface GivenFacts extends Omit<ServerFacts, 'thresholds'> {
  /** Those of the check's thresholds that the connection sets otherwise. */
  thresholds?: Thresholds;
}

/** What a check makes of its rows; a threshold that is not given is the check's own. Throws what `judge` throws. */
export function judgementOf(check: Check, rows: Row[], facts: GivenFacts): Judgement {
  return check.judge(rows, { ...facts, thresholds: { ...check.thresholds, ...facts.thresholds } });
}
