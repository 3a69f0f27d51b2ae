import { familyOfCheck } from '../vocabulary/engines.ts';
import type { Provider } from '../vocabulary/hosted/providers.ts';
import type { Check, Judgement, ServerFacts, Skipped, Thresholds } from './check.ts';
import type { Row } from './fault.ts';
import { hostedRemediation } from './hosted/hosted-remediation.ts';
import { isOfProvider, notApplicable } from './hosted/not-applicable.ts';

/** The facts of a server before a check's defaults are filled in. */
export interface JudgementInput extends Omit<ServerFacts, 'thresholds'> {
  /** Thresholds of the check that the connection changes. */
  thresholds?: Thresholds;
}

/** A check's judgement of its rows; missing thresholds are the check's defaults. Throws what `judge` throws. */
export function judgementOf(check: Check, rows: Row[], facts: JudgementInput): Judgement {
  const judged = check.judge(rows, { ...facts, thresholds: { ...check.thresholds, ...facts.thresholds } });
  const judgement = check.readsQueries ? withoutLost(judged, facts) : judged;
  return facts.provider ? hostedJudgement(facts.provider, check.id, judgement) : judgement;
}

/** A judgement of queries. If the server lost some, the check found what it could, and nothing counts as gone. */
function withoutLost(judgement: Judgement, { queries }: JudgementInput): Judgement {
  if ('skipped' in judgement || queries === undefined || 'skipped' in queries || !queries.overflow)
    return judgement;
  if (judgement.faults.length === 0) return { skipped: `Not measured: ${queries.overflow}.` };
  return { ...judgement, truncated: true };
}

/** A judgement of a server that a provider hosts: without what is untrue there, and in the provider's terms. */
function hostedJudgement(provider: Provider, checkId: string, judgement: Judgement): Judgement {
  if ('skipped' in judgement) return judgement;
  const untrue = notApplicable(provider, checkId);
  if (untrue !== undefined) return { skipped: untrue };
  const family = familyOfCheck(checkId);
  const engine = family === 'mysql' ? family : 'postgres';
  const faults = judgement.faults
    .filter((fault) => !isOfProvider(provider, fault))
    .map(({ remediation, ...fault }) => ({
      ...fault,
      remediation: hostedRemediation(provider, { engine, checkId, remediation }),
    }));
  return { ...judgement, faults };
}

/** The rows that a check which compares runs gets back in the next one. */
export function keptRows(check: Check, rows: Row[], before?: ServerFacts['before']): Row[] {
  return check.keeps?.(rows, before) ?? rows;
}

/** Why a check was skipped, with the GRANT that is missing: `Not measured: … are hidden. Run GRANT …;`. */
export function skippedLine({ skipped, grant }: Skipped): string {
  return grant === undefined ? skipped : `${skipped} Run ${grant}`;
}
