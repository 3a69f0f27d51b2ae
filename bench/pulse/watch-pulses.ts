import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';

// Those of runs end sooner.
const pulseSessions = `
    from pg_stat_activity
   where application_name = 'dbvitals' and backend_start < now() - interval '30 s'`;

const selectPulses = `select pid, extract(epoch from query_start)::float8 as at ${pulseSessions}`;

/** How many sessions of the server pulse. */
export async function countPulseSessions(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`select count(*)::int as count ${pulseSessions}`);
  return rows[0]?.count ?? 0;
}

/** Seconds between one pulse and the next of each session that lasts, as the server saw them for so many seconds. */
export async function watchPulses(client: pg.Client, measured: number): Promise<number[]> {
  const seen = new Map<number, number>();
  const intervals: number[] = [];
  const until = Date.now() + measured * 1_000;
  while (Date.now() < until) {
    const { rows } = await client.query<{ pid: number; at: number }>(selectPulses);
    for (const { pid, at } of rows) {
      const before = seen.get(pid);
      if (before !== undefined && at > before) intervals.push(at - before);
      seen.set(pid, at);
    }
    await wait(1_000);
  }
  return intervals;
}

/** By how many seconds each pulse was later than it was due after the one before, sorted. */
export function lateBy(intervals: readonly number[], every: number): number[] {
  return intervals.map((seconds) => seconds - every).toSorted((a, b) => a - b);
}
