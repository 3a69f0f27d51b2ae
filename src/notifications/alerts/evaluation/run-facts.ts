import type { Outcome } from '../../../checks/check.ts';
import type { SeriesValue } from '../../../checks/measure.ts';
import type { EventConnection } from '../../event.ts';
import type { StandingAlert } from '../alert-row.ts';
import type { WatchedRule } from '../alert-rule.ts';

/** The connection of a run, and the time of the change (`Change.at`). */
export interface RunScope {
  accountId: number;
  connectionId: number;
  at: string;
}

/** What a run found out. */
export interface RunFacts {
  score: number;
  /** The score as it would be without silences: it tells a mended connection from a silenced one. */
  unsilencedScore: number;
  /** With silences applied. */
  outcomes: readonly Outcome[];
  /** Without silences. */
  measured: readonly Outcome[];
  measures: readonly SeriesValue[];
  /** Databases that exist, but that no check looked into. */
  leftOut: ReadonlySet<string>;
}

/** What pulses saw last. */
export interface PulseFigures {
  /** The longest wait for a lock now. */
  blocked_seconds: number;
  /** How many sessions wait for a lock now. */
  blocked_sessions: number;
  /** On average in the last minute; null = too little was seen. */
  load_active_sessions: number | null;
}

/** When a series will be full. */
interface WatchedForecast {
  check_id: string;
  metric: string;
  database: string;
  object: string | null;
  /** RFC 3339; null = it has no limit. */
  full_at: string | null;
}

/** What an evaluation reads of the store: the columns of {@link import('./watch-columns.ts').alertWatchColumns}. */
export interface AlertWatch {
  /** The enabled rules of the account, whatever they cover. */
  rules: readonly WatchedRule[];
  /** The connection's pending and open alerts, and each rule's latest one that was resolved within 24 h. */
  alerts: readonly StandingAlert[];
  /** Empty unless a rule needs them. */
  forecasts: readonly WatchedForecast[];
  /** Null = no pulse, or none since the run before. */
  pulse: PulseFigures | null;
  /** The run before this one, RFC 3339. Null = this is the first. */
  previous_run_at: string | null;
}

/** What an evaluation must know besides. */
export interface AlertSurroundings {
  connection: EventConnection;
  /** A maintenance window covers the connection now: alerts open without an announcement. */
  isInMaintenance: boolean;
  /** Whether a destination could want an alert. If not, nothing is announced, and later ones are announced when there is one. */
  canAnnounce: boolean;
}
