import { compares } from '../../../notifications/alerts/alert-rule.ts';
import type { PulseRule } from '../../../notifications/alerts/evaluation/pulse-rules.ts';
import type { PulseFigures } from '../../../notifications/alerts/evaluation/run-facts.ts';
import { blockingRoots, longestWait } from '../blocking-roots.ts';
import type { RuleCondition } from '../pulse-conditions.ts';
import type { PulseReading } from '../reading/pulse-reading.ts';

/** Over this time the load is averaged. */
const AVERAGE_MS = 60_000;

/** How much later than the pulse the first run for a rule may note that its condition holds. */
const SLACK_MS = 10_000;

/** Longer than the longest time between two pulses: what was before it is no part of the average. */
const LONGEST_GAP_MS = 90_000;

/** After a start, so much of it must have been seen. */
const LEAST_MS = 45_000;

/** What pulses saw that rules compare. */
export interface RuleWatch {
  /** The readings of the last minute. */
  recent: readonly { at: number; active: number }[];
  /** Since when a rule's number has been crossed, by the id of the rule. */
  since: ReadonlyMap<number, number>;
}

export const FRESH_RULE_WATCH: RuleWatch = { recent: [], since: new Map() };

/** Compares a reading with rules. A rule's number is crossed until its clearing number is. */
export function watchRules(
  before: RuleWatch,
  reading: PulseReading,
  rules: readonly PulseRule[],
  now: number,
): { watch: RuleWatch; figures: PulseFigures; seen: RuleCondition[] } {
  const lastAt = before.recent.at(-1)?.at ?? now;
  const known = now - lastAt > LONGEST_GAP_MS ? [] : before.recent;
  const oldest = known.findLastIndex(({ at }) => at <= now - AVERAGE_MS);
  const recent = [...known.slice(Math.max(0, oldest)), { at: now, active: reading.active }];
  const figures = {
    blocked_seconds: Math.max(
      reading.clientsWaiting?.seconds ?? 0,
      ...blockingRoots(reading).map(longestWait),
    ),
    blocked_sessions: reading.waits.length + (reading.clientsWaiting?.count ?? 0),
    load_active_sessions: averageActive(recent),
  };
  const since = new Map<number, number>();
  const seen: RuleCondition[] = [];
  for (const { id, metric, operator, threshold, clear_threshold, for_seconds } of rules) {
    const value = figures[metric];
    const crossed = before.since.get(id);
    const limit = crossed === undefined ? threshold : (clear_threshold ?? threshold);
    if (value === null || !compares(value, operator, limit)) continue;
    since.set(id, crossed ?? now);
    seen.push(`rule_${id}`);
    // The first run notes that the condition holds; the second finds that it has held for long enough.
    const isLong = for_seconds > 0 && now - (crossed ?? now) >= for_seconds * 1_000 + SLACK_MS;
    if (isLong) seen.push(`rule_${id}_long`);
  }
  return { watch: { recent, since }, figures, seen };
}

/** Each reading stands for the time since the one before it. Null = too little was seen. */
function averageActive(recent: RuleWatch['recent']): number | null {
  const [first, last] = [recent[0], recent.at(-1)];
  if (!first || !last || last.at - first.at < LEAST_MS) return null;
  const sum = recent.reduce(
    (total, { at, active }, n) => total + active * (at - (recent[n - 1]?.at ?? at)),
    0,
  );
  return sum / (last.at - first.at);
}
