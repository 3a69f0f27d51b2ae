import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { errorFields } from '../store/store-failure.ts';
import { claimConnection, releaseConnection } from './claim.ts';
import { checkCollected } from './collected/check-collected.ts';
import { claimFairly, type Places } from './fair-share.ts';
import type { ConnectionKey, MonitorDeps } from './monitor-deps.ts';
import type { PulseEvidence } from './pulse/pulse-conditions.ts';
import { startPulses } from './pulse/start-pulses.ts';
import { runHealthCheck } from './run.ts';
import { stepsOf } from './run-steps.ts';
import { type StoreOutage, storeOutage } from './store-outage.ts';
import type { StoredCheck } from './store-run.ts';

const POLL_MS = 1_000;

/** How long running checks may continue after a stop, in milliseconds. */
const GRACE_MS = 3_000;

/** A running monitor. */
export interface Monitor {
  /** How many health checks are running. */
  running(): number;
  /** How many connections are pulsed. */
  pulsed(): number;
  /** Stops claiming and the pulses, gives running checks 3 s to finish, cancels the rest and releases their claims. */
  stop(): Promise<void>;
}

/**
 * Options of a monitor. `measure` is called after each run, with how late it started and how long it took, in
 * seconds.
 */
interface MonitorOptions extends MonitorDeps {
  concurrency: number;
  /** Whether it also pulses the connections (default: false). */
  pulses?: boolean;
  measure?: (outcome: RunOutcome, late: number, took: number) => void;
}

/** `done`: the run was stored; `failed`: it could not be stored; `cancelled`: the monitor stopped. */
type RunOutcome = 'done' | 'failed' | 'cancelled';

/** Runs the health checks that are due, `concurrency` at a time; any number of monitors share one store. */
export function startMonitor({ concurrency, measure, pulses: hasPulses, ...deps }: MonitorOptions): Monitor {
  const claimant = randomUUID();
  const outage = storeOutage(deps.log);
  const stopping = new AbortController();
  const calledOff = new AbortController();
  const running: Running = new Map();
  const places = () => ({ concurrency, ...countRuns(running, hasPulses === true) });
  let wake = () => {};
  const pulses = hasPulses ? startPulses({ ...deps, wake: () => wake() }) : null;

  const claimForever = async () => {
    while (!stopping.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      try {
        const claimed = await claimFairly(deps.writer, claimant, places());
        outage.over();
        const began = performance.now();
        for (const { late, evidence, ...key } of claimed) {
          stepsOf(deps.log, key)?.('claim', { late });
          const check = runClaimed(deps, claimant, key, evidence, calledOff.signal, outage).then(
            (outcome) => {
              running.delete(check);
              measure?.(outcome, late, (performance.now() - began) / 1000);
              wake();
            },
          );
          running.set(check, { accountId: key.accountId, isAsked: evidence !== null });
        }
      } catch (error) {
        outage.met(error);
        await wait(POLL_MS, undefined, { signal: stopping.signal }).catch(() => {});
        continue;
      }
      const poll = new AbortController();
      const signal = AbortSignal.any([stopping.signal, poll.signal]);
      await Promise.race([woken, wait(POLL_MS, undefined, { signal }).catch(() => {})]);
      poll.abort();
    }
  };
  const claiming = claimForever();

  return {
    running: () => running.size,
    pulsed: () => pulses?.running() ?? 0,
    async stop() {
      stopping.abort();
      const pulsesStopped = pulses?.stop();
      await claiming;
      const ended = new AbortController();
      const grace = wait(GRACE_MS, undefined, { signal: ended.signal }).catch(() => {});
      await Promise.race([Promise.all(running.keys()), grace]);
      ended.abort(); // or its timer keeps the process alive
      calledOff.abort(new Error('the monitor stops'));
      await Promise.all(running.keys());
      await pulsesStopped;
    },
  };
}

/** The running checks: whose each is, and whether pulses asked for it. */
type Running = Map<Promise<void>, { accountId: number; isAsked: boolean }>;

/** How many checks of each account are running, and how many of all were asked for if there are pulses. */
function countRuns(running: Running, hasPulses: boolean): Pick<Places, 'held' | 'asked'> {
  const held = new Map<number, number>();
  for (const { accountId } of running.values()) held.set(accountId, (held.get(accountId) ?? 0) + 1);
  const asked = [...running.values()].filter(({ isAsked }) => isAsked).length;
  return hasPulses ? { held, asked } : { held };
}

/**
 * Runs a health check of one connection now, due or not, after waiting for any other monitor that runs it. Otherwise
 * like `runHealthCheck`. That of a collector is run there.
 */
export async function checkNow(
  deps: MonitorDeps,
  key: ConnectionKey,
  signal?: AbortSignal,
): Promise<StoredCheck | null> {
  const collected = await checkCollected(deps.writer, key, signal);
  if (collected) return collected;
  const claimant = randomUUID();
  await claimConnection(deps.writer, claimant, key);
  try {
    const stored = await runHealthCheck(deps, key, signal, { isByHand: true });
    await releaseConnection(deps.writer, claimant, key, 'done');
    return stored;
  } catch (error) {
    await releaseConnection(deps.writer, claimant, key, 'cancelled').catch(() => {});
    throw error;
  }
}

/** Never throws: logs errors of the store, and lets a claim expire that can't be released. */
async function runClaimed(
  deps: MonitorDeps,
  claimant: string,
  key: ConnectionKey,
  evidence: PulseEvidence | null,
  calledOff: AbortSignal,
  outage: StoreOutage,
): Promise<RunOutcome> {
  let outcome: RunOutcome = 'done';
  try {
    const stored = await runHealthCheck(deps, key, calledOff, { evidence });
    if (stored) deps.log.info({ ...key, score: stored.score }, 'health check completed');
  } catch (error) {
    outcome = calledOff.aborted ? 'cancelled' : 'failed';
    if (!calledOff.aborted)
      deps.log.error({ ...key, ...errorFields(error, deps.log) }, 'health check could not be stored');
  }
  // The store may be unavailable for a moment. Without retries, the connection would wait until its claim expires.
  for (let tries = 0; tries < 60; tries++) {
    try {
      await releaseConnection(deps.writer, claimant, key, outcome);
      break;
    } catch (error) {
      outage.met(error);
      if (calledOff.aborted) break;
      await wait(POLL_MS, undefined, { signal: calledOff }).catch(() => {});
    }
  }
  return outcome;
}
