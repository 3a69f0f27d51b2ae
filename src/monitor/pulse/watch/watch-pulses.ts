import type { PulseRule } from '../../../notifications/alerts/evaluation/pulse-rules.ts';
import type { PulseFigures } from '../../../notifications/alerts/evaluation/run-facts.ts';
import { blockingRoots, longestWait } from '../blocking-roots.ts';
import type { PulseAnswer } from '../held-session.ts';
import { type Condition, isRuleCondition, type PulseEvidence } from '../pulse-conditions.ts';
import type { PulseReading } from '../reading/pulse-reading.ts';
import { FRESH_RULE_WATCH, type RuleWatch, watchRules } from './watch-rules.ts';

/** What pulses of a connection are judged by: its own thresholds, in seconds and shares. */
export interface PulseThresholds {
  blockedSeconds: { warning: number; critical: number };
  connections: { warning: number; critical: number };
  /** Alert rules about what pulses see. */
  rules: readonly PulseRule[];
}

/** What the pulses of a connection so far mean. */
export interface Watch {
  /** When the first of the latest failures began; null after a pulse that was answered. */
  failingSince: number | null;
  /** The last reading. */
  reading: PulseReading | null;
  /** How many readings in a row a replica that ran has stood still; null = it never ran. */
  standstills: number | null;
  rules: RuleWatch;
  /** What rules compare, if there are any and the last pulse read it. */
  figures: PulseFigures | null;
  /** The conditions that hold, with the time when each was last seen. */
  holding: ReadonlyMap<Condition, number>;
  /** What the next run is asked for. */
  asking: { holding: ReadonlySet<Condition>; cleared: ReadonlySet<Condition> };
  /** The conditions that a run was asked for. */
  asked: ReadonlySet<Condition>;
  /** When a run was last asked for because of what began, and of what ended. */
  askedAt: { begun: number; ended: number };
  /** Until when a close look lasts. */
  closeUntil: number;
}

/** What to do after a pulse. */
export interface PulseStep {
  watch: Watch;
  /** The evidence for a run now; null = none is due. */
  run: PulseEvidence | null;
  /** The next pulse should be soon: a close look, or the second look at a server that did not answer. */
  isClose: boolean;
}

/** A condition that is not seen for so long has ended. */
const CALM_MS = 5_000;

/** How long a close look lasts after the last sign of something wrong. */
const CLOSE_MS = 30_000;

/** At most one run in this time because of what began, and one because of what ended. */
const RUN_EVERY_MS = 60_000;

/** Of the connections: from there on a close look. */
const CROWDED = 0.9;

/** Clients of a pooler often wait for less. */
const LATE_SECONDS = 1;

/** A start time that is computed from whole seconds varies by one. */
const START_VARIES = 5;

export const FRESH_WATCH: Watch = {
  failingSince: null,
  reading: null,
  standstills: null,
  rules: FRESH_RULE_WATCH,
  figures: null,
  holding: new Map(),
  asking: { holding: new Set(), cleared: new Set() },
  asked: new Set(),
  askedAt: { begun: Number.NEGATIVE_INFINITY, ended: Number.NEGATIVE_INFINITY },
  closeUntil: Number.NEGATIVE_INFINITY,
};

/** Judges a pulse that began at `at` and ended at `now`, milliseconds of a clock that never goes back. */
export function watchPulse(
  before: Watch,
  answer: PulseAnswer,
  { at, now }: { at: number; now: number },
  thresholds: PulseThresholds,
): PulseStep {
  const { seen, watch } =
    'reading' in answer
      ? watchReading(before, answer.reading, thresholds, now)
      : watchFailure({ ...before, figures: null }, answer, at);
  const holding = new Map(before.holding);
  const cleared = new Set<Condition>();
  for (const [condition, last] of before.holding) {
    const isOver = condition === 'unreachable' || now - last >= CALM_MS;
    if ('failure' in answer || seen.has(condition) || !isOver) continue;
    holding.delete(condition);
    cleared.add(condition);
  }
  for (const condition of seen) if (!MOMENTS.has(condition)) holding.set(condition, now);
  const begun = [...seen].filter((condition) => !before.holding.has(condition));
  const isTense =
    watch.failingSince !== null ||
    [...seen].some((condition) => !isRuleCondition(condition)) ||
    (watch.reading !== null && isCrowded(watch.reading));
  const closeUntil = isTense ? now + CLOSE_MS : before.closeUntil;
  return {
    ...askForRun({ ...watch, holding, closeUntil }, begun, cleared, now),
    isClose: now < closeUntil,
  };
}

/** They happen, and do not last. */
const MOMENTS: ReadonlySet<Condition> = new Set(['restarted', 'role_changed']);

interface Seen {
  watch: Watch;
  seen: Set<Condition>;
}

// A login that is refused, or has no room, is a matter of the ordinary run: the database may be well.
function watchFailure(
  before: Watch,
  { failure }: Extract<PulseAnswer, { failure: unknown }>,
  at: number,
): Seen {
  if (failure.kind === 'saturated')
    return { watch: before, seen: new Set(['connections', 'connections_full']) };
  if (failure.kind !== 'unreachable') return { watch: { ...before, failingSince: null }, seen: new Set() };
  const isSecond = before.failingSince !== null;
  return {
    watch: { ...before, failingSince: before.failingSince ?? at },
    seen: new Set(isSecond ? ['unreachable'] : []),
  };
}

function watchReading(before: Watch, reading: PulseReading, thresholds: PulseThresholds, now: number): Seen {
  const seen = new Set<Condition>();
  const see = (condition: Condition, holds: boolean) => holds && seen.add(condition);
  const { warning, critical } = blockedLimits(reading, thresholds);
  const waited = Math.max(reading.clientsWaiting?.seconds ?? 0, ...blockingRoots(reading).map(longestWait));
  see('blocked', waited >= warning);
  see('blocked_long', waited >= critical);
  const share = usedShare(reading);
  see('connections', share >= thresholds.connections.warning);
  see('connections_full', share >= thresholds.connections.critical);
  const standstills =
    reading.isReplicating === true ? 0 : before.standstills === null ? null : before.standstills + 1;
  see('replica_stopped', reading.isReplicating === false && standstills !== null && standstills >= 2);
  const last = before.reading;
  // A pool that begins has no server connection for a moment.
  const isCutOff = reading.clientsWaiting?.isCutOff === true && last?.clientsWaiting?.isCutOff === true;
  see('server_unreachable', isCutOff);
  see('restarted', last !== null && reading.started > last.started + START_VARIES);
  see('role_changed', last !== null && reading.isStandby !== last.isStandby);
  const rules = watchRules(before.rules, reading, thresholds.rules, now);
  for (const condition of rules.seen) seen.add(condition);
  const figures = thresholds.rules.length > 0 ? rules.figures : null;
  return {
    watch: { ...before, failingSince: null, reading, standstills, rules: rules.watch, figures },
    seen,
  };
}

// MY_LOCK_WAITS lowers its threshold likewise: the server may end each wait before.
function blockedLimits(
  { lockWaitTimeout }: PulseReading,
  { blockedSeconds }: PulseThresholds,
): { warning: number; critical: number } {
  const { warning, critical } = blockedSeconds;
  return { warning: lockWaitTimeout === null ? warning : Math.min(warning, lockWaitTimeout / 2), critical };
}

function isCrowded(reading: PulseReading): boolean {
  const areClientsLate = (reading.clientsWaiting?.seconds ?? 0) >= LATE_SECONDS;
  const isCutOff = reading.clientsWaiting?.isCutOff === true;
  return reading.waits.length > 0 || areClientsLate || isCutOff || usedShare(reading) > CROWDED;
}

function usedShare({ connections: { used, allowed } }: PulseReading): number {
  return allowed > 0 ? used / allowed : 0;
}

/** Decides whether a run is asked for now. What ended before a run was asked for needs none. */
function askForRun(
  watch: Watch,
  begun: readonly Condition[],
  cleared: ReadonlySet<Condition>,
  now: number,
): Pick<PulseStep, 'watch' | 'run'> {
  const without = (conditions: Iterable<Condition>, others: ReadonlySet<Condition>) =>
    new Set([...conditions].filter((condition) => !others.has(condition)));
  const known = [...cleared].filter((condition) => watch.asked.has(condition));
  const holding = without([...watch.asking.holding, ...begun], cleared);
  const ended = without([...watch.asking.cleared, ...known], new Set(begun));
  const asked = without(watch.asked, cleared);
  const isDue = (due: ReadonlySet<Condition>, last: number) => due.size > 0 && now - last >= RUN_EVERY_MS;
  const [begins, ends] = [isDue(holding, watch.askedAt.begun), isDue(ended, watch.askedAt.ended)];
  if (!begins && !ends) return { watch: { ...watch, asked, asking: { holding, cleared: ended } }, run: null };
  const evidence = new Set([...watch.holding.keys(), ...holding]);
  return {
    run: {
      holding: [...evidence],
      cleared: [...ended],
      ...(watch.figures && { figures: watch.figures }),
    },
    watch: {
      ...watch,
      asked: new Set([...asked, ...watch.holding.keys()]),
      asking: { holding: new Set(), cleared: new Set() },
      askedAt: { begun: begins ? now : watch.askedAt.begun, ended: ends ? now : watch.askedAt.ended },
    },
  };
}
