import { everyCheck } from '../../checks/catalogue.ts';
import type { Check, Thresholds } from '../../checks/check.ts';
import { findingId, type OwnCheck } from '../../checks/own/own-check.ts';
import { type ThresholdFacts, thresholdFacts } from '../../checks/threshold-facts.ts';
import type { ConnectionThresholds } from '../connection-thresholds.ts';

/** A threshold of a whole account, or of its connections with a tag. */
export interface Override {
  /** '' = the whole account. */
  tag: string;
  check_id: string;
  name: string;
  value: number;
}

/** Where a connection's threshold comes from. `tag` names it for that source, and is '' for the others. */
interface Origin {
  source: 'connection' | 'tag' | 'account' | 'default';
  tag: string;
}

/** The value that holds for a connection. */
export interface EffectiveThreshold extends Origin {
  value: number;
}

const facts = new Map<string, ReadonlyMap<string, ThresholdFacts>>(
  everyCheck.map((check) => [check.id, new Map(thresholdFacts(check).map((each) => [each.name, each]))]),
);
const defaults = new Map<string, Thresholds | undefined>(
  everyCheck.map((check: Pick<Check, 'id' | 'thresholds'>) => [check.id, check.thresholds]),
);

/** The facts of a threshold; undefined if there is none of this name. */
export function factsOf(checkId: string, name: string): ThresholdFacts | undefined {
  return facts.get(checkId)?.get(name);
}

/** What the levels of an own check mean. */
export type OwnLevels = Pick<OwnCheck, 'id' | 'operator' | 'warning' | 'critical'>;

/** The built-in thresholds of a check; none if there is no such check. */
export function defaultsOf(checkId: string): Thresholds {
  return defaults.get(checkId) ?? {};
}

/**
 * The thresholds that hold for a connection, by check and name: its own, else that of its tags, else that of the account.
 * What none of them sets is left out, and is the default. Of several tags, the value with which the check reports more
 * counts, whatever their order: it depends on `ownChecks` for own checks.
 */
export function effectiveThresholds(
  own: ConnectionThresholds,
  tags: readonly string[],
  overrides: readonly Override[],
  ownChecks: readonly OwnLevels[] = [],
): ReadonlyMap<string, ReadonlyMap<string, EffectiveThreshold>> {
  const falling = new Set(
    ownChecks.flatMap(({ id, operator }) => (operator === '<=' ? [findingId(id)] : [])),
  );
  const found = new Map<string, Map<string, EffectiveThreshold>>();
  const set = (checkId: string, name: string, threshold: EffectiveThreshold) => {
    const known = found.get(checkId) ?? new Map<string, EffectiveThreshold>();
    const before = known.get(name);
    const isHigherStricter = falling.has(checkId) || factsOf(checkId, name)?.stricter === 'higher';
    if (!before || precedes(threshold, before, isHigherStricter)) known.set(name, threshold);
    found.set(checkId, known);
  };
  for (const { tag, check_id, name, value } of overrides) {
    if (tag === '') set(check_id, name, { value, source: 'account', tag });
    else if (tags.includes(tag)) set(check_id, name, { value, source: 'tag', tag });
  }
  for (const [checkId, named] of Object.entries(own)) {
    for (const [name, value] of Object.entries(named))
      set(checkId, name, { value, source: 'connection', tag: '' });
  }
  return found;
}

const RANK = { connection: 3, tag: 2, account: 1, default: 0 } as const satisfies Record<
  Origin['source'],
  number
>;

function precedes(one: EffectiveThreshold, other: EffectiveThreshold, isHigherStricter: boolean): boolean {
  if (RANK[one.source] !== RANK[other.source]) return RANK[one.source] > RANK[other.source];
  if (one.value === other.value) return one.tag < other.tag;
  return isHigherStricter ? one.value > other.value : one.value < other.value;
}

/** {@link effectiveThresholds} as a run takes them: numbers by check and name. */
export function thresholdsOfRun(
  ...levels: Parameters<typeof effectiveThresholds>
): Record<string, Record<string, number>> {
  return Object.fromEntries(
    [...effectiveThresholds(...levels)].map(([id, named]) => [
      id,
      Object.fromEntries([...named].map(([name, { value }]) => [name, value])),
    ]),
  );
}
