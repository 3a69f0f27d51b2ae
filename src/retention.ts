import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { pruneEntries } from './activity/prune-entries.ts';
import { recordPruned } from './activity/record-pruned.ts';
import { sealEntries } from './activity/record-seals.ts';
import type { SealFile } from './activity/seal-file.ts';
import { countKeys } from './console/key-counts.ts';
import { pruneSignIns } from './console/prune-sign-ins.ts';
import { thinChecks } from './health/thin-checks.ts';
import { pruneCounters } from './monitor/prune-counters.ts';
import type { SecretKeys } from './wrap.ts';

/** What is kept for a time only: entries of the log, findings of old health checks, counters of runs, sessions and links. */
type Kept = 'entries' | 'findings' | 'counters' | 'sign_ins';

interface RetentionOptions {
  /** A pool of the store's owner. */
  owner: pg.Pool;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  /** How long entries of the log are kept; null = for ever. */
  activityDays: number | null;
  /** What seals are appended to; null = nothing but the store. */
  sealFile: SealFile | null;
  log: Pick<Logger, 'info' | 'error'>;
  /** Hears how many rows a step removed or shrank. */
  measure?: (kept: Kept, rows: number) => void;
  /** Hears what a round could not do; seals that are missing or forged are a seal file that could not be continued. */
  failed?: (work: Kept | 'seals' | 'seal_file' | 'key_hours') => void;
}

/** A retention that runs. */
interface Retention {
  /** Lets the step under way end and begins no other. */
  stop(): Promise<void>;
}

/** How long a step may take, in milliseconds: a thousand times what it does, and within the time to stop. */
export const STEP_DEADLINE_MS = 5_000;

/**
 * How many times as long as a step of sealing the rest after it is. Half of the time, as for what is removed, could be seen in
 * the answers of a busy service; a tenth seals some 5,000 entries a second, more than are written for long.
 */
const SEALING_RESTS = 9;

const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;

/**
 * Seals what is new in the logs, counts the requests of keys, and removes what is past its time: a minute after the start, then every hour. Any number of
 * processes may do so.
 */
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

/** Seals what is new, or as much of it as is done by the signal. Never throws: the next round tries again. */
async function seal(
  { owner, secret, activityDays, sealFile, log, failed }: RetentionOptions,
  signal: AbortSignal,
): Promise<void> {
  let seals = 0;
  const leisurely = (took: number) => rest(took * SEALING_RESTS, signal);
  try {
    for await (const _ of sealEntries({ owner, secret, activityDays, rest: leisurely })) {
      seals += 1;
      if (signal.aborted) break;
    }
  } catch (error) {
    log.error({ err: error }, 'the log could not be sealed, and nothing is cut that is not sealed');
    failed?.('seals');
  }
  if (seals > 0) log.info({ seals }, 'the log was sealed');
  if (signal.aborted) return;
  try {
    const strange = (await sealFile?.append(owner)) ?? [];
    if (strange.length > 0) {
      log.error({ accounts: strange }, 'seals are missing or forged: run "activity verify --from-export"');
      failed?.('seal_file');
    }
  } catch (error) {
    failed?.('seal_file');
    log.error(
      { err: error },
      'seals could not be appended to DBVITALS_SEAL_FILE, and are with the next round',
    );
  }
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
  await seal(options, signal);
  if (signal.aborted) return;
  await countRequests(options, signal);
  if (signal.aborted) return;
  const work: [Kept, () => AsyncGenerator<number>][] = [
    ['findings', () => thinChecks(owner)],
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

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
