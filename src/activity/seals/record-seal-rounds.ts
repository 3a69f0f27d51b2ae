import type { Logger } from 'pino';
import { type Rounds, rest, startRounds } from '../../platform/rounds.ts';
import { type Sealing, sealEntries } from './record-seals.ts';
import type { SealFile } from './seal-file.ts';

/** What a round of sealing needs. */
export interface SealRound extends Omit<Sealing, 'rest'> {
  /** The file that seals are appended to; null = seals are kept only in the store. */
  sealFile: SealFile | null;
  log: Pick<Logger, 'info' | 'error'>;
  /** Called with the part of a round that failed. Missing or forged seals count as a failure of the seal file. */
  failed?: (work: 'seals' | 'seal_file') => void;
}

/**
 * The pause after each step of sealing, as a multiple of the step's duration. Sealing half of the time, like
 * retention, slowed down the answers of a busy service. A tenth of the time seals about 5,000 entries a second, more
 * than a service writes for long.
 */
const SEALING_RESTS = 9;

/** Before the first round of retention, which deletes only sealed entries. */
const FIRST_MS = 30_000;
/**
 * Entries can be altered unnoticed until they are sealed. `activity verify` reports those that were sealed more than
 * an hour late.
 */
const EVERY_MS = 600_000;

/**
 * Seals new entries half a minute after the start, then every 10 minutes. Several services may do so: only one at a
 * time seals an account. `owner` should be a separate pool, because a round of retention may hold its pool for hours.
 */
export function startSealing(options: SealRound, times = { first: FIRST_MS, every: EVERY_MS }): Rounds {
  return startRounds((signal) => sealRound(options, signal), times);
}

/** Seals new entries until it is done or the signal aborts. Never throws: the next round tries again. */
export async function sealRound(
  { owner, secret, activityDays, sealFile, log, failed }: SealRound,
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
    log.error({ err: error }, 'the log could not be sealed; retention deletes no unsealed entries');
    failed?.('seals');
  }
  if (seals > 0) log.info({ seals }, 'the log was sealed');
  if (signal.aborted) return;
  try {
    const mismatched = (await sealFile?.append(owner)) ?? [];
    if (mismatched.length > 0) {
      log.error({ accounts: mismatched }, 'seals are missing or forged: run "activity verify --seal-file"');
      failed?.('seal_file');
    }
  } catch (error) {
    failed?.('seal_file');
    log.error(
      { err: error },
      'seals could not be appended to DBVITALS_SEAL_FILE; the next round will append them',
    );
  }
}
