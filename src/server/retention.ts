import type pg from 'pg';
import type { Logger } from 'pino';
import { pruneEntries } from '../activity/prune-entries.ts';
import { recordPruned } from '../activity/record-pruned.ts';
import { type Rounds, rest, startRounds } from '../activity/rounds.ts';
import { pruneFindings } from '../health/prune-findings.ts';
import { countKeys } from '../keys/key-counts.ts';
import { pruneCounters } from '../monitor/prune-counters.ts';
import { pruneSignIns } from '../sign-in/prune-sign-ins.ts';

/** What is kept for a time only: entries of the log, findings of old health checks, counters of runs, sessions and links. */
type Kept = 'entries' | 'findings' | 'counters' | 'sign_ins';

interface RetentionOptions {
  /** A pool of the store's owner. */
  owner: pg.Pool;
  /** How long entries of the log are kept; null = for ever. */
  activityDays: number | null;
  log: Pick<Logger, 'info' | 'error'>;
  /** Hears how many rows a step removed or shrank. */
  measure?: (kept: Kept, rows: number) => void;
  /** Hears what a round could not do. */
  failed?: (work: Kept | 'key_hours') => void;
  /** Hears of each round that ended. */
  ended?: () => void;
}

/** How long a step may take, in milliseconds: a thousand times what it does, and within the time to stop. */
export const STEP_DEADLINE_MS = 5_000;

const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;

/**
 * Counts the requests of keys and removes what is past its time: a minute after the start, then every hour. Of the log only what
 * a seal lets go (activity/record-seal-rounds.ts). Any number of processes may do so.
 */
export function startRetention(
  options: RetentionOptions,
  times = { first: FIRST_MS, every: EVERY_MS },
): Rounds {
  return startRounds(async (signal) => {
    await retain(options, signal);
    if (!signal.aborted) options.ended?.();
  }, times);
}

/** Counts the requests of keys, or as much as is done by the signal. Never throws: the next round goes on from there. */
async function countRequests(
  { owner, log, failed }: Pick<RetentionOptions, 'owner' | 'log' | 'failed'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of unhurried(countKeys(owner), signal));
  } catch (error) {
    log.error({ err: error }, 'the requests of keys could not be counted, and are with the next round');
    failed?.('key_hours');
  }
}

/** One round, or as much of it as is done by the signal. Never throws: what fails is tried again in the next round. */
export async function retain(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { owner, activityDays, log, measure, failed } = options;
  await countRequests(options, signal);
  if (signal.aborted) return;
  const work: [Kept, () => AsyncGenerator<number>][] = [
    ['findings', () => pruneFindings(owner)],
    ['counters', () => pruneCounters(owner)],
    ['sign_ins', () => pruneSignIns(owner)],
  ];
  if (activityDays !== null) work.unshift(['entries', () => pruneEntries(owner)]);
  for (const [kept, steps] of work) {
    let removed = 0;
    try {
      for await (const rows of unhurried(steps(), signal)) {
        removed += rows;
        measure?.(kept, rows);
      }
      if (kept === 'entries') await recordPruned(owner);
    } catch (error) {
      log.error({ err: error, kept }, 'retention failed, and is tried again');
      failed?.(kept);
    }
    if (removed > 0) log.info({ kept, rows: removed }, 'retention removed what is past its time');
    if (signal.aborted) return;
  }
}

/** The steps, with a rest after each one as long as it took: requests and checks come first. Ends at the signal. */
async function* unhurried<T>(steps: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  let began = performance.now();
  for await (const step of steps) {
    yield step;
    await rest(performance.now() - began, signal);
    if (signal.aborted) return;
    began = performance.now();
  }
}
