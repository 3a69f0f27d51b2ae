import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { errorFields, isStoreFailure } from '../../store/store-failure.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { ChannelFormat } from '../channels/channel.ts';
import { createAccessTokens } from './access-tokens.ts';
import {
  type AttemptDeps,
  attemptDelivery,
  type EndedAttempt,
  type Open,
  opener,
} from './attempt-delivery.ts';
import { createRecorder } from './batch-records.ts';
import { cancelOvertaken } from './cancel-overtaken.ts';
import { disableWhenFailing, disableWhenGone, disableWhenTampered } from './disable-failing.ts';
import { findDue, parkQueues } from './find-due.ts';
import { type Lease, leaseDeliveries, type Share } from './lease-deliveries.ts';
import { logEnds } from './log-ends.ts';
import { createBatchSender } from './send-batches.ts';
import { type HeldSlots, mostSlots, SLOTS, shareSlots } from './share-slots.ts';

// A first attempt starts at most this long after its event was committed.
const IDLE_MS = 200;
// While there is work, so that a destination gets its requests spread over the second.
const BUSY_MS = 25;
const OUTAGE_MS = 1_000;
const LOG_MS = 1_000;

/** How long requests under way may take after a stop. What is left is sent again by another process when its lease ends. */
const GRACE_MS = 3_000;

/** Options of a dispatcher: `writer` is a pool of its own, with at least 4 connections. */
export interface DispatcherOptions extends Omit<AttemptDeps, 'tokens'> {
  formats: Readonly<Record<Channel, ChannelFormat>>;
  measure: {
    attempted(channel: Channel, outcome: 'accepted' | 'failed'): void;
    /** `count` deliveries ended. */
    ended(channel: Channel, state: 'accepted' | 'given_up', count: number): void;
  };
}

/**
 * Sends what is due to the destinations of all accounts and the batches of log streams, and writes the ends of deliveries into their
 * logs, until stopped. Any number of processes may do so.
 */
export function startDispatcher(options: DispatcherOptions): Rounds {
  const { writer, log, formats, measure } = options;
  const stopping = new AbortController();
  const abandoned = new AbortController();
  const recorder = createRecorder(writer, log, abandoned.signal);
  const outage = storeOutage(log);
  const running = new Map<Promise<void>, Lease>();
  const deps = { ...options, tokens: createAccessTokens(options.send) };
  const batches = createBatchSender(deps, stopping.signal);
  let wake = () => {};

  async function run(lease: Lease, open: Open): Promise<void> {
    const { destination } = lease;
    const attempt = await attemptDelivery(deps, lease, formats[destination.channel], open);
    if (attempt === null || abandoned.signal.aborted) return;
    measure.attempted(destination.channel, attempt.sent.accepted ? 'accepted' : 'failed');
    const recorded = await recorder.record(attempt);
    if (recorded && recorded.accepted > 0) measure.ended(destination.channel, 'accepted', recorded.accepted);
    if (recorded && recorded.givenUp > 0) measure.ended(destination.channel, 'given_up', recorded.givenUp);
    if (attempt.sent.accepted) await cancelOvertaken(writer, lease);
    await disableAfter(writer, attempt, recorded?.isFailing ?? false);
  }

  /** Starts what is due and has a slot. Returns the number of requests. */
  async function round(): Promise<number> {
    if (running.size >= SLOTS) return 0;
    const { full, ...held } = heldBy(running.values());
    const due = await findDue(writer, full);
    if (due.length === 0) return 0;
    const enabled = due.filter(({ isEnabled }) => isEnabled);
    if (enabled.length < due.length)
      await parkQueues(
        writer,
        due.filter(({ isEnabled }) => !isEnabled),
      );
    const mostEvents = ({ channel }: { channel: Channel }) =>
      formats[channel].makeMessage ? formats[channel].mostEvents : null;
    const given = shareSlots(
      enabled.map((each) => (mostEvents(each) === null ? each : { ...each, wants: Math.min(each.wants, 1) })),
      held,
    );
    // One that wants nothing has a due time that is out of date: leasing nothing corrects it.
    const shares = enabled.flatMap((destination): Share[] => {
      const slots = given.get(destination.destinationId) ?? 0;
      return slots > 0 || destination.wants === 0
        ? [{ destination, slots, mostEvents: mostEvents(destination) }]
        : [];
    });
    if (shares.length === 0) return 0;
    const leases = await leaseDeliveries(writer, shares);
    const open = opener(options);
    for (const lease of leases) {
      const sending = run(lease, open)
        .catch((error: unknown) => outage.met(error))
        .finally(() => {
          running.delete(sending);
          if (running.size === SLOTS - 1) wake();
        });
      running.set(sending, lease);
    }
    return leases.length;
  }

  async function dispatchForever(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      let pause = OUTAGE_MS;
      try {
        const started = (await round()) + (await batches.start((error) => outage.met(error)));
        pause = started > 0 ? BUSY_MS : IDLE_MS;
        outage.over();
      } catch (error) {
        outage.met(error);
      }
      const poll = new AbortController();
      const signal = AbortSignal.any([stopping.signal, poll.signal]);
      await Promise.race([woken, wait(pause, undefined, { signal }).catch(() => {})]);
      poll.abort();
    }
  }

  const dispatching = dispatchForever();
  const logging = startRounds(
    async () => {
      await logEnds(writer).catch((error: unknown) => outage.met(error));
    },
    { first: LOG_MS, every: LOG_MS },
  );
  return {
    async stop() {
      stopping.abort();
      await dispatching;
      await settleWithin([...running.keys(), ...batches.running.keys()], GRACE_MS);
      abandoned.abort();
      await logging.stop();
      await logEnds(writer, 0).catch((error: unknown) => outage.met(error));
    },
  };
}

/** Disables a destination that is gone, was tampered with or fails for long. */
async function disableAfter(
  writer: pg.Pool,
  { lease: { destination }, sent, tampered }: EndedAttempt,
  isFailing: boolean,
): Promise<void> {
  if (sent.gone) await disableWhenGone(writer, destination);
  else if (tampered !== undefined) await disableWhenTampered(writer, destination, tampered);
  else if (isFailing) await disableWhenFailing(writer, destination);
}

/** Waits until all have settled, at most so long. None of them rejects. */
async function settleWithin(work: readonly Promise<void>[], ms: number): Promise<void> {
  const ended = new AbortController();
  const grace = wait(ms, undefined, { signal: ended.signal }).catch(() => {});
  await Promise.race([Promise.all(work), grace]);
  ended.abort();
}

/** The slots that the leases occupy, and the destinations that have all the slots that they may have. */
function heldBy(leases: Iterable<Lease>): HeldSlots & { full: number[] } {
  const accounts = new Map<number, number>();
  const destinations = new Map<number, number>();
  const full = new Set<number>();
  for (const { destination } of leases) {
    const { accountId, destinationId } = destination;
    accounts.set(accountId, (accounts.get(accountId) ?? 0) + 1);
    const count = (destinations.get(destinationId) ?? 0) + 1;
    destinations.set(destinationId, count);
    if (count >= mostSlots(destination)) full.add(destinationId);
  }
  return { accounts, destinations, full: [...full] };
}

/** Logs each outage of the store once, and other errors each time. */
function storeOutage(log: DispatcherOptions['log']) {
  let isAway = false;
  return {
    met(error: unknown) {
      if (!isStoreFailure(error)) {
        log.error(errorFields(error, log), 'a notification could not be handled; it is tried again');
        return;
      }
      if (!isAway)
        log.error(
          errorFields(error, log),
          'notifications wait for the store; they are sent when it answers again',
        );
      isAway = true;
    },
    over() {
      if (isAway) log.info('notifications are sent again');
      isAway = false;
    },
  };
}
