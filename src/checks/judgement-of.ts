import type { Check, Judgement, Row, ServerFacts, Skipped, Thresholds } from './check.ts';

/** The facts of a server before a check's defaults are filled in. */
export interface JudgementInput extends Omit<ServerFacts, 'thresholds'> {
  /** Thresholds of the check that the connection changes. */
  thresholds?: Thresholds;
}

/** A check's judgement of its rows; missing thresholds are the check's defaults. Throws what `judge` throws. */
export function judgementOf(check: Check, rows: Row[], facts: JudgementInput): Judgement {
  return check.judge(rows, { ...facts, thresholds: { ...check.thresholds, ...facts.thresholds } });
}

/** The rows that a check which compares runs gets back in the next one. */
export function keptRows(check: Check, rows: Row[]): Row[] {
  return check.keeps?.(rows) ?? rows;
}

/** Why a check was skipped, with the GRANT that is missing: `Not measured: … are hidden. Run GRANT …;`. */
export function skippedLine({ skipped, grant }: Skipped): string {
  return grant === undefined ? skipped : `${skipped} Run ${grant}`;
}
