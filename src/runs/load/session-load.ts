import { createHash } from 'node:crypto';

/** What sessions do, and who they are. */
export interface LoadSource {
  state: 'active' | 'idle in transaction';
  /** The class of what they wait for; '' = they run. */
  wait: string;
  event: string;
  /** A query id or digest; '' = unknown. */
  query: string;
  role: string;
  application: string;
  database: string;
}

/** The load of a connection in one minute: averages, if nothing else is said. */
export interface LoadMinute {
  /** When it began. */
  at: Date;
  active: number;
  idle_in_transaction: number;
  /** The most at once. */
  blocked_sessions: number;
  /** The longest wait. */
  blocked_seconds: number;
  /** The same at its end. */
  end_blocked_sessions: number;
  end_blocked_seconds: number;
  /** A second; null = not read. */
  commits: number | null;
  rollbacks: number | null;
  /** Seconds, the most; null = not read. */
  replica_lag: number | null;
  /** The largest first. */
  sources: { id: number; source: LoadSource; sessions: number }[];
}

/** The most sources of a minute that are stored. */
export const MOST_LOAD_SOURCES = 40;

/** A number of 52 bits that stands for a source: the same in every minute and monitor. */
export function hashSource(source: LoadSource): number {
  const { state, wait, event, query, role, application, database } = source;
  const text = JSON.stringify([state, wait, event, query, role, application, database]);
  return Number(createHash('sha256').update(text).digest().readBigUInt64BE() >> 12n);
}
