import type { Logger } from 'pino';
import { type Rounds, rest, startRounds } from '../rounds.ts';
import { type Sealing, sealEntries } from './record-seals.ts';
import type { SealFile } from './seal-file.ts';

/** What a round of sealing needs. */
export interface SealRound extends Omit<Sealing, 'rest'> {
  /** What seals are appended to; null = nothing but the store. */
  sealFile: SealFile | null;
  log: Pick<Logger, 'info' | 'error'>;
  /** Hears what a round could not do; seals that are missing or forged are a seal file that could not be continued. */
  failed?: (work: 'seals' | 'seal_file') => void;
}

/**
 * How many times as long as a step of sealing the rest after it is. Half of the time, as for what is removed, could be seen in
 * the answers of a busy service; a tenth seals some 5,000 entries a second, more than are written for long.
 */
const SEALING_RESTS = 9;

/** Before the first round of retention, which removes only what is sealed. */
const FIRST_MS = 30_000;
/** What happens in between can be altered unseen; `activity verify` tells of what was sealed more than an hour late. */
const EVERY_MS = 600_000;

/**
 * Seals what is new in the logs, half a minute after the start and then every 10 minutes. Any number of services may do so: an account
 * is sealed by one at a time. `owner` should be a pool of its own, for a round of retention may hold one for hours.
 */
export function startSealing(options: SealRound, times = { first: FIRST_MS, every: EVERY_MS }): Rounds {
  return startRounds((signal) => sealRound(options, signal), times);
}

/** Seals what is new, or as much of it as is done by the signal. Never throws: the next round tries again. */
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
    log.error({ err: error }, 'the log could not be sealed, and nothing is cut that is not sealed');
    failed?.('seals');
  }
  if (seals > 0) log.info({ seals }, 'the log was sealed');
  if (signal.aborted) return;
  try {
    const strange = (await sealFile?.append(owner)) ?? [];
    if (strange.length > 0) {
      log.error({ accounts: strange }, 'seals are missing or forged: run "activity verify --seal-file"');
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
