import type { PulseReading, PulseWait } from '../reading/pulse-reading.ts';

/** Kinds of locks of which MySQL and MariaDB tell since when the statement runs, and not since when it waits. */
const UNTIMED: ReadonlySet<string> = new Set(['metadata', 'table', 'user']);

/** A pulse reads waits of a second and more. */
const UNSEEN_MS = 1_000;

/** Since when pulses have known sessions to wait, by pid. */
export interface SeenWaits {
  /** When the last reading was; null = before the first. */
  at: number | null;
  /** A session that one reading missed has `isMissed`: servers read sessions and locks one after the other. */
  since: ReadonlyMap<number, { at: number; isMissed: boolean }>;
}

export const NO_WAITS: SeenWaits = { at: null, since: new Map() };

/**
 * Limits waits to the time in which pulses can have seen them: an ALTER TABLE that copied rows for an hour has waited since the last
 * reading without it, at most. What waits in the first reading may have waited for as long as the server says.
 */
export function limitWaits(
  before: SeenWaits,
  reading: PulseReading,
  now: number,
): { seen: SeenWaits; reading: PulseReading } {
  const since = new Map<number, { at: number; isMissed: boolean }>();
  const limit = (wait: PulseWait): PulseWait => {
    if (!UNTIMED.has(wait.lock)) return wait;
    const began = before.at === null ? now - wait.seconds * 1_000 : before.at - UNSEEN_MS;
    const at = before.since.get(wait.pid)?.at ?? began;
    since.set(wait.pid, { at, isMissed: false });
    return { ...wait, seconds: Math.min(wait.seconds, Math.max(0, now - at) / 1_000) };
  };
  const waits = reading.waits.map(limit);
  for (const [pid, { at, isMissed }] of before.since)
    if (!isMissed && !since.has(pid)) since.set(pid, { at, isMissed: true });
  return { seen: { at: now, since }, reading: { ...reading, waits } };
}
