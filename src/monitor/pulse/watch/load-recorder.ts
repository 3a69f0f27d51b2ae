import {
  hashSource,
  type LoadMinute,
  type LoadSource,
  MOST_LOAD_SOURCES,
} from '../../../runs/load/session-load.ts';
import { blockingRoots, longestWait } from '../blocking-roots.ts';
import type { PulseReading } from '../reading/pulse-reading.ts';

const MINUTE_MS = 60_000;

/** The most sources of a minute that are followed: a hostile server could show new ones in each pulse. */
const MOST_FOLLOWED = 1_000;

/** The most sessions that a row can have, and the longest time. */
const MOST = 1e9;

/** The pulses of a minute so far. */
interface Recording {
  at: number;
  /** Sums over the seconds that each pulse stands for. */
  seconds: number;
  active: number;
  idle: number;
  blockedSessions: number;
  blockedSeconds: number;
  endBlockedSessions: number;
  endBlockedSeconds: number;
  replicaLag: number | null;
  sources: Map<number, { source: LoadSource; sessions: number }>;
  /** The counters before its first pulse. */
  before: Counters | null;
}

interface Counters {
  at: number;
  commits: number;
  rollbacks: number;
}

/** Makes minutes of the pulses of a connection. A pulse stands for the time since the one before it. */
export class LoadRecorder {
  #recording: Recording | null = null;
  #lastAt: number | null = null;
  #counters: Counters | null = null;

  /** Adds a reading. Returns the minute before, if this one is the first of a new minute. */
  add(reading: PulseReading, now: number): LoadMinute | null {
    const at = now - (now % MINUTE_MS);
    const finished = this.#recording && this.#recording.at !== at ? this.#finish(this.#recording) : null;
    if (finished || !this.#recording) this.#recording = startRecording(at, this.#counters);
    const seconds = this.#lastAt === null ? 1 : Math.min(60, Math.max(0.1, (now - this.#lastAt) / 1_000));
    this.#lastAt = now;
    addReading(this.#recording, reading, seconds);
    const { transactions } = reading;
    this.#counters = transactions && { at: now, ...transactions };
    this.#recording.before ??= this.#counters;
    return finished;
  }

  /**
   * Ends the recording. Returns the minute so far if it stands for more than half of one: the rest is another monitor's, and a
   * minute is stored once.
   */
  end(): LoadMinute | null {
    const recording = this.#recording;
    this.#recording = null;
    return recording && recording.seconds * 1_000 > MINUTE_MS / 2 ? this.#finish(recording) : null;
  }

  #finish(recording: Recording): LoadMinute {
    const { at, seconds, active, idle, sources, before } = recording;
    const last = this.#counters;
    const elapsed = before && last ? (last.at - before.at) / 1_000 : 0;
    const rate = (name: 'commits' | 'rollbacks') => {
      const more = before && last && elapsed > 0 ? (last[name] - before[name]) / elapsed : -1;
      return more < 0 ? null : Math.min(MOST, more); // fewer after a restart
    };
    return {
      at: new Date(at),
      active: active / seconds,
      idle_in_transaction: idle / seconds,
      blocked_sessions: recording.blockedSessions,
      blocked_seconds: recording.blockedSeconds,
      end_blocked_sessions: recording.endBlockedSessions,
      end_blocked_seconds: recording.endBlockedSeconds,
      commits: rate('commits'),
      rollbacks: rate('rollbacks'),
      replica_lag: recording.replicaLag,
      sources: [...sources]
        .map(([id, { source, sessions }]) => ({ id, source, sessions: sessions / seconds }))
        .toSorted((one, other) => other.sessions - one.sessions)
        .slice(0, MOST_LOAD_SOURCES),
    };
  }
}

function startRecording(at: number, before: Counters | null): Recording {
  return {
    at,
    seconds: 0,
    active: 0,
    idle: 0,
    blockedSessions: 0,
    blockedSeconds: 0,
    endBlockedSessions: 0,
    endBlockedSeconds: 0,
    replicaLag: null,
    sources: new Map(),
    before,
  };
}

function addReading(recording: Recording, reading: PulseReading, seconds: number): void {
  const { waits, load, active, idleInTransaction, replicaLag } = reading;
  recording.seconds += seconds;
  recording.active += bounded(active) * seconds;
  recording.idle += bounded(idleInTransaction) * seconds;
  recording.endBlockedSessions = waits.length;
  recording.endBlockedSeconds = Math.max(0, ...blockingRoots(reading).map(longestWait));
  recording.blockedSessions = Math.max(recording.blockedSessions, recording.endBlockedSessions);
  recording.blockedSeconds = Math.max(recording.blockedSeconds, recording.endBlockedSeconds);
  if (replicaLag !== null) recording.replicaLag = Math.max(recording.replicaLag ?? 0, replicaLag);
  for (const { count, seconds: _, ...source } of load) {
    const id = hashSource(source);
    const known = recording.sources.get(id);
    if (known) known.sessions += count * seconds;
    else if (recording.sources.size < MOST_FOLLOWED)
      recording.sources.set(id, { source, sessions: count * seconds });
  }
}

function bounded(sessions: number): number {
  return Math.min(MOST, Math.max(0, sessions));
}
