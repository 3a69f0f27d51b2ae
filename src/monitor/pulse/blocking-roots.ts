import type { PulseReading, PulseSession, PulseWait } from './reading/pulse-reading.ts';

/** A session that blocks others and does not wait itself, with those behind it. */
export interface BlockingRoot {
  /** The same for one session over pulses. */
  key: string;
  /** Null = a transaction without a session, or the server does not show it. */
  session: PulseSession | null;
  /** Those that wait for it, also behind others; the longest wait first. */
  waits: PulseWait[];
}

/**
 * The roots of all chains of waits, that with the longest wait first. A deadlock that the server does not end, or not yet, has one of its
 * sessions as its root: to end that one frees the others.
 */
export function blockingRoots({ waits, sessions }: PulseReading): BlockingRoot[] {
  const waiting = new Map(waits.map((wait) => [wait.pid, wait]));
  const sessionByPid = new Map(sessions.map((session) => [session.pid, session]));
  const behind = new Map<number, PulseWait[]>();
  for (const wait of waits) {
    for (const root of rootsAbove(wait, waiting))
      if (root !== wait.pid) {
        const victims = behind.get(root);
        if (victims) victims.push(wait);
        else behind.set(root, [wait]);
      }
  }
  return [...behind]
    .map(([pid, victims]) => {
      const session = sessionByPid.get(pid) ?? null;
      return {
        key: session ? `${pid}/${session.started}` : `${pid}`,
        session,
        waits: victims.toSorted((one, other) => other.seconds - one.seconds),
      };
    })
    .toSorted((one, other) => longestWait(other) - longestWait(one));
}

/** Seconds. */
export function longestWait({ waits }: BlockingRoot): number {
  return waits[0]?.seconds ?? 0;
}

/** The pids at the ends of the chains from a wait; 0 where the server shows no blocker. */
function rootsAbove(wait: PulseWait, waiting: ReadonlyMap<number, PulseWait>): ReadonlySet<number> {
  const roots = new Set<number>();
  const visited = new Set<number>();
  const open = [wait];
  for (let next = open.pop(); next; next = open.pop()) {
    if (visited.has(next.pid)) continue;
    visited.add(next.pid);
    if (next.blockers.length === 0) roots.add(0);
    for (const pid of next.blockers) {
      const blocker = waiting.get(pid);
      if (blocker) open.push(blocker);
      else roots.add(pid);
    }
  }
  return roots.size > 0 ? roots : new Set([rootOfCycle(wait, waiting)]);
}

/** The lowest pid in the cycle that a wait leads to, if every session above it waits. */
function rootOfCycle(wait: PulseWait, waiting: ReadonlyMap<number, PulseWait>): number {
  const path: number[] = [];
  for (let pid = wait.pid; !path.includes(pid); pid = waiting.get(pid)?.blockers[0] ?? pid) path.push(pid);
  const last = waiting.get(path.at(-1) ?? wait.pid)?.blockers[0] ?? wait.pid;
  return Math.min(...path.slice(path.indexOf(last)));
}
