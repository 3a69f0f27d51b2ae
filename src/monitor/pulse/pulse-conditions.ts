import type { PulseFigures } from '../../notifications/alerts/evaluation/run-facts.ts';
import { PULSE_METRICS } from '../../vocabulary/alert-metrics.ts';

/** What a pulse can see that a health check should judge at once. */
const CONDITIONS = [
  'unreachable',
  'blocked',
  'blocked_long',
  'connections',
  'connections_full',
  'replica_stopped',
  'server_unreachable',
  'restarted',
  'role_changed',
] as const;

type CheckedCondition = (typeof CONDITIONS)[number];

/** The number of an alert rule is crossed, or has been for as long as the rule says. */
export type RuleCondition = `rule_${number}` | `rule_${number}_long`;

export type Condition = CheckedCondition | RuleCondition;

export function isRuleCondition(condition: Condition): condition is RuleCondition {
  return condition.startsWith('rule_');
}

/** What the pulses saw when they asked for a run. Plain data: the schedule has it as JSON. */
export interface PulseEvidence {
  /** The conditions that hold, and those that happened. */
  holding: Condition[];
  /** Those that held and no longer do. */
  cleared: Condition[];
  /** For the rules about what pulses see; absent = there are none, or the last pulse read nothing. */
  figures?: PulseFigures;
}

/** The checks that judge a condition. Pulses saw it more than once, so one run is enough to open or resolve their tickets. */
const CHECKS: Readonly<Record<CheckedCondition, readonly string[]>> = {
  unreachable: ['CONN_UNREACHABLE'],
  blocked: ['PG_BLOCKED_SESSIONS', 'MY_LOCK_WAITS', 'MY_MDL_WAIT', 'PB_CLIENTS_WAITING'],
  blocked_long: ['PG_BLOCKED_SESSIONS', 'MY_LOCK_WAITS', 'MY_MDL_WAIT', 'PB_CLIENTS_WAITING'],
  connections: ['PG_CONN_SATURATION', 'MY_CONN_SATURATION', 'PB_CLIENT_LIMIT'],
  connections_full: ['PG_CONN_SATURATION', 'MY_CONN_SATURATION', 'PB_CLIENT_LIMIT'],
  replica_stopped: ['PG_STANDBY_CUT_OFF', 'MY_REPLICA_STOPPED'],
  server_unreachable: ['PB_SERVER_UNREACHABLE'],
  restarted: [],
  role_changed: [],
};

function checksOf(condition: Condition): readonly string[] {
  return isRuleCondition(condition) ? [] : CHECKS[condition];
}

/** The ids of the checks whose faults the pulses saw before the run, and whose end. */
export interface WitnessedChecks {
  faults: ReadonlySet<string>;
  ends: ReadonlySet<string>;
}

/** The checks that a run's evidence is about; of none without evidence. */
export function witnessedChecks(evidence: PulseEvidence | null): WitnessedChecks {
  const faults = new Set(evidence?.holding.flatMap(checksOf));
  const ends = new Set(evidence?.cleared.flatMap(checksOf));
  for (const id of faults) ends.delete(id);
  return { faults, ends };
}

/** Whether the pulses saw a server answer that did not. */
export function answersAgain(evidence: PulseEvidence | null): boolean {
  return evidence?.cleared.includes('unreachable') === true;
}

/** Parses stored evidence; null if it is none. Conditions of rules and of other versions are left out. */
export function parseEvidence(stored: unknown): PulseEvidence | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const list = (name: 'holding' | 'cleared') => {
    const values: unknown = Reflect.get(stored, name);
    return CONDITIONS.filter((condition) => Array.isArray(values) && values.includes(condition));
  };
  const figures = parseFigures(Reflect.get(stored, 'figures'));
  return { holding: list('holding'), cleared: list('cleared'), ...(figures && { figures }) };
}

function parseFigures(stored: unknown): PulseFigures | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const [seconds, sessions, active] = PULSE_METRICS.map((metric): unknown => Reflect.get(stored, metric));
  if (typeof seconds !== 'number' || typeof sessions !== 'number') return null;
  return {
    blocked_seconds: seconds,
    blocked_sessions: sessions,
    load_active_sessions: typeof active === 'number' ? active : null,
  };
}
