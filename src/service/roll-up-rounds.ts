import type pg from 'pg';
import type { Logger } from 'pino';
import { type Rounds, startRounds, unhurried } from '../platform/rounds.ts';
import { rollUpLoad } from '../runs/load/roll-up-load.ts';
import { rollUp } from '../runs/measures/roll-up.ts';
import { storeForecasts } from '../runs/measures/store-forecasts.ts';

/** What a round that rolls up measures needs. */
export interface RollUpRound {
  /** A pool of the writer's role, of its own: a round over many connections takes minutes. */
  writer: pg.Pool;
  log: Pick<Logger, 'info' | 'error'>;
  /** Called when a round failed. */
  failed?: (work: 'measures') => void;
}

const FIRST_MS = 45_000;
const EVERY_MS = 300_000;

/**
 * Rolls up the measures of connections to hours and days and removes expired ones, and their load to five minutes, 45 s after the start and then every 5
 * minutes: at most a little more than an hour is not rolled up. Any number of services may do so.
 */
export function startRollingUp(options: RollUpRound, times = { first: FIRST_MS, every: EVERY_MS }): Rounds {
  return startRounds((signal) => rollUpRound(options, signal), times);
}

/** Rolls up all that is due until done or aborted. Never throws: the next round tries again. */
async function rollUpRound({ writer, log, failed }: RollUpRound, signal: AbortSignal): Promise<void> {
  try {
    for await (const _ of unhurried(rollUp(writer, { rolled: storeForecasts }), signal));
  } catch (error) {
    log.error({ err: error }, 'measures could not be rolled up; the next round tries again');
    failed?.('measures');
  }
  try {
    for await (const _ of unhurried(rollUpLoad(writer), signal));
  } catch (error) {
    log.error({ err: error }, 'the load could not be rolled up; the next round tries again');
    failed?.('measures');
  }
}
