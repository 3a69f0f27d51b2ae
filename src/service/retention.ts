import type pg from 'pg';
import type { Logger } from 'pino';
import { countKeys } from '../accounts/keys/key-counts.ts';
import { remindOfExpiry } from '../accounts/keys/remind-of-expiry.ts';
import { pruneSignIns } from '../accounts/sign-in/prune-sign-ins.ts';
import { pruneEntries } from '../activity/prune-entries.ts';
import { recordPruned } from '../activity/record-pruned.ts';
import { pruneCounters } from '../monitor/counters.ts';
import { pruneEvents } from '../notifications/dispatch/prune-events.ts';
import { recordMissed, warnOfUndelivered } from '../notifications/log-streams/stream-retention.ts';
import { type Rounds, startRounds, unhurried } from '../platform/rounds.ts';
import { pruneChanges } from '../runs/changes/prune-changes.ts';
import { pruneEpisodes } from '../runs/episodes/prune-episodes.ts';
import { pruneLoad } from '../runs/load/prune-load.ts';
import { pruneFindings } from '../runs/prune-findings.ts';
import { pruneQueries } from '../runs/queries/prune-queries.ts';

/** What is kept for a limited time: log entries, findings of old health checks, counters of runs, changes, queries, blocking episodes, load, sessions and links, events with their deliveries. */
type Kept =
  | 'entries'
  | 'findings'
  | 'counters'
  | 'changes'
  | 'queries'
  | 'episodes'
  | 'load'
  | 'sign_ins'
  | 'events';

/** What a round removes, in steps that yield how many rows they removed. */
type Work = [Kept, () => AsyncGenerator<number>];

interface PruneOptions {
  /** A pool of the store's owner. */
  owner: pg.Pool;
  log: Pick<Logger, 'info' | 'error'>;
  /** Counts the rows that a step removed or shrank. */
  measure?: (kept: Kept, rows: number) => void;
  /** Counts a part of a round that failed. */
  failed?: (work: Kept | 'key_hours' | 'key_reminders') => void;
  /** Called after each round. */
  ended?: () => void;
}

interface RetentionOptions extends PruneOptions {
  /** How long log entries are kept, in days; null = forever. */
  activityDays: number | null;
}

/** How long a step may take, in milliseconds: a thousand times its usual duration, and less than the time to shut down. */
export const STEP_DEADLINE_MS = 5_000;

const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;

/**
 * Counts the requests of API keys, reminds of those that expire soon, and removes expired data, a minute after the start and then every hour. Log entries are
 * removed only once a seal allows it (activity/record-seal-rounds.ts). Any number of processes may run this.
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

/**
 * Removes expired sessions, challenges and failed sign-ins from a control store that is no cell. In a cell,
 * {@link startRetention} does it.
 */
export function startControlRetention(
  options: PruneOptions,
  times = { first: FIRST_MS, every: EVERY_MS },
): Rounds {
  const work: Work[] = [['sign_ins', () => pruneSignIns(options.owner)]];
  return startRounds(async (signal) => {
    await prune(options, work, signal);
    if (!signal.aborted) options.ended?.();
  }, times);
}

/** Counts the requests of API keys until done or aborted. Never throws: the next round continues from there. */
async function countRequests(
  { owner, log, failed }: Pick<RetentionOptions, 'owner' | 'log' | 'failed'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of unhurried(countKeys(owner), signal));
  } catch (error) {
    log.error({ err: error }, "counting the API keys' requests failed; the next round tries again");
    failed?.('key_hours');
  }
}

/** Reminds of keys that expire soon. Never throws: the next round reminds of the rest. */
async function remind(
  { owner, log, failed }: Pick<RetentionOptions, 'owner' | 'log' | 'failed'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of unhurried(remindOfExpiry(owner), signal));
  } catch (error) {
    log.error({ err: error }, 'reminding of expiring API keys failed; the next round tries again');
    failed?.('key_reminders');
  }
}

/** Runs one round until done or aborted. Never throws: the next round retries what failed. */
export async function retain(options: RetentionOptions, signal: AbortSignal): Promise<void> {
  const { owner, activityDays } = options;
  await countRequests(options, signal);
  await remind(options, signal);
  if (signal.aborted) return;
  const work: Work[] = [
    ['findings', () => pruneFindings(owner)],
    ['counters', () => pruneCounters(owner)],
    ['changes', () => pruneChanges(owner)],
    ['queries', () => pruneQueries(owner)],
    ['episodes', () => pruneEpisodes(owner)],
    ['load', () => pruneLoad(owner)],
    ['sign_ins', () => pruneSignIns(owner)],
    ['events', () => pruneEvents(owner)],
  ];
  if (activityDays !== null) work.unshift(['entries', () => pruneUndelivered(owner)]);
  await prune(options, work, signal);
}

/** Says what log streams would lose, and deletes the entries that none of them needs, or that the log spoke of a week ago. */
async function* pruneUndelivered(owner: pg.Pool): AsyncGenerator<number> {
  await warnOfUndelivered(owner);
  yield* pruneEntries(owner);
}

async function prune(
  { owner, log, measure, failed }: PruneOptions,
  work: readonly Work[],
  signal: AbortSignal,
): Promise<void> {
  for (const [kept, steps] of work) {
    let removed = 0;
    try {
      for await (const rows of unhurried(steps(), signal)) {
        removed += rows;
        measure?.(kept, rows);
      }
      if (kept === 'entries') {
        await recordPruned(owner);
        await recordMissed(owner);
      }
    } catch (error) {
      log.error({ err: error, kept }, 'retention failed; the next round tries again');
      failed?.(kept);
    }
    if (removed > 0) log.info({ kept, rows: removed }, 'retention removed expired data');
    if (signal.aborted) return;
  }
}
