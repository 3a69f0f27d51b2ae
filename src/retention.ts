import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { pruneEntries } from './activity/prune-entries.ts';
import { recordPruned } from './activity/record-pruned.ts';
import { thinChecks } from './health/thin-checks.ts';
import { pruneCounters } from './monitor/prune-counters.ts';

/** What is kept for a time only: entries of the log, findings of old health checks, counters of runs. */
type Kept = 'entries' | 'findings' | 'counters';

interface RetentionOptions {
  /** A pool of the store's owner. */
  owner: pg.Pool;
  /** How long entries of the log are kept; null = for ever. */
  activityDays: number | null;
  log: Pick<Logger, 'info' | 'error'>;
  /** Hears how many rows a step removed or shrank. */
  measure?: (kept: Kept, rows: number) => void;
}

/** A retention that runs. */
interface Retention {
  /** Lets the step under way end and begins no other. */
  stop(): Promise<void>;
}

/** How long a step may take, in milliseconds: a thousand times what it does, and within the time to stop. */
export const STEP_DEADLINE_MS = 5_000;

const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;

/** Removes what is past its time: a minute after the start, then every hour. Any number of processes may do so. */
export function startRetention(
  options: RetentionOptions,
  { first, every } = { first: FIRST_MS, every: EVERY_MS },
): Retention {
  const stopping = new AbortController();
  const running = (async () => {
    for (let pause = first; ; pause = every) {
      await rest(pause, stopping.signal);
      if (stopping.signal.aborted) return;
      await retain(options, stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** One round, or as much of it as is done by the signal. Never throws: what fails is tried again in the next round. */
export async function retain(
  { owner, activityDays, log, measure }: RetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  const work: [Kept, () => AsyncGenerator<number>][] = [
    ['findings', () => thinChecks(owner)],
    ['counters', () => pruneCounters(owner)],
  ];
  if (activityDays !== null) work.unshift(['entries', () => pruneEntries(owner, activityDays)]);
  for (const [kept, steps] of work) {
    let removed = 0;
    try {
      let began = performance.now();
      for await (const rows of steps()) {
        removed += rows;
        measure?.(kept, rows);
        // At most half of the time: requests and checks come first.
        await rest(performance.now() - began, signal);
        if (signal.aborted) break;
        began = performance.now();
      }
      if (kept === 'entries') await recordPruned(owner);
    } catch (error) {
      log.error({ err: error, kept }, 'retention failed, and is tried again');
    }
    if (removed > 0) log.info({ kept, rows: removed }, 'retention removed what is past its time');
    if (signal.aborted) return;
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
