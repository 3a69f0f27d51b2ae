import { setTimeout as wait } from 'node:timers/promises';
import { errorFields, isStoreFailure } from '../../store/store-failure.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { ChannelFormat, LogBatch, OpenDestination } from '../channels/channel.ts';
import { TamperedDestination } from '../destinations/destination-secrets.ts';
import { openDestination } from '../destinations/open-destination.ts';
import { leaseStreams, type StreamLease } from '../log-streams/lease-streams.ts';
import { readBatch } from '../log-streams/read-batch.ts';
import {
  acceptBatch,
  beginBatch,
  failBatch,
  passEntries,
  renewLease,
  shortenBatch,
} from '../log-streams/record-batch.ts';
import { type HeldBatch, SLOW_MS, streamRoom } from '../log-streams/stream-room.ts';
import { failedAttempt } from '../sending/failed-attempt.ts';
import type { SendResult } from '../sending/outgoing.ts';
import { type AttemptDeps, hasPublicMessage } from './attempt-delivery.ts';
import { disableWhenGone, disableWhenTampered } from './disable-failing.ts';

/** Streams are looked at this often while all have caught up, so entries wait at most this long for others. */
const LOOK_MS = 1_000;
/** While batches are under way: they free room when they end, or count as slow. */
const LOOK_AGAIN_MS = 250;

/**
 * How long a stream counts as slow after a slow batch. One that counted as quick again after each quick batch could hold the room of the
 * others with every second one.
 */
const SLOW_FOR_MS = 600_000;

const CONFIRM_EVERY_MS = 1_000;
// Splunk keeps the last events of a burst in memory for about two minutes before it indexes them.
const CONFIRM_ATTEMPTS = 300;
const RENEW_EVERY = 30;

/** What sending batches needs. */
export interface BatchOptions extends AttemptDeps {
  formats: Readonly<Record<Channel, ChannelFormat>>;
  measure: { attempted(channel: Channel, outcome: 'accepted' | 'failed'): void };
}

/** Sends the batches of log streams, a part of each round of the dispatcher. */
export function createBatchSender(options: BatchOptions, stopped: AbortSignal) {
  const running = new Map<Promise<void>, HeldBatch>();
  /** When the last batch of a destination ended that was slow. */
  const slow = new Map<number, number>();
  let lookAt = 0;

  function begin(lease: StreamLease, onError: (error: unknown) => void): void {
    const { accountId, destinationId, isTroubled } = lease;
    const held: HeldBatch = { accountId, destinationId, isTroubled, since: performance.now(), bytes: null };
    const sending = sendBatch(options, lease, held, stopped)
      .catch(onError)
      .finally(() => {
        running.delete(sending);
        const now = performance.now();
        if (now - held.since > SLOW_MS) slow.set(destinationId, now);
      });
    running.set(sending, held);
  }

  function forgetSlow(now: number): void {
    for (const [id, at] of slow) if (now - at > SLOW_FOR_MS) slow.delete(id);
  }

  return {
    /** The batches under way. */
    running,
    /** Starts the batches that are due and have room. Returns their number. */
    async start(onError: (error: unknown) => void): Promise<number> {
      const now = performance.now();
      const room = streamRoom(running.values(), now);
      if (room.all === 0 || now < lookAt) return 0;
      forgetSlow(now);
      const leases = await leaseStreams(options.writer, room, slow.keys());
      if (leases.length === 0) lookAt = now + (running.size === 0 ? LOOK_MS : LOOK_AGAIN_MS);
      for (const lease of leases) begin(lease, onError);
      return leases.length;
    },
  };
}

async function sendBatch(
  options: BatchOptions,
  lease: StreamLease,
  held: HeldBatch,
  stopped: AbortSignal,
): Promise<void> {
  const { writer, measure } = options;
  const read = await readBatch(writer, lease);
  if (!('batch' in read)) return passEntries(writer, lease, read.scannedId);
  const { batch } = read;
  held.bytes = read.bytes;
  if (!(await beginBatch(writer, lease, batch.lastId))) return;
  let sent: SendResult;
  try {
    const destination = await openDestination(writer, options.secret, lease.accountId, lease.destinationId);
    if (destination === null) return; // it was removed
    held.since = performance.now(); // a busy store does not make the receiver slow
    sent = await attempt(options, destination, batch, () => renewLease(writer, lease), stopped);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    await failBatch(writer, lease, failedAttempt(failureSentence(error, options.log), performance.now()));
    if (error instanceof TamperedDestination) await disableWhenTampered(writer, lease, error.reason);
    return;
  }
  measure.attempted(lease.channel, sent.accepted ? 'accepted' : 'failed');
  if (sent.accepted) return acceptBatch(writer, lease, batch, sent);
  const shorterId = batch.lines[Math.floor(batch.lines.length / 2) - 1]?.id;
  if (sent.status === 413 && shorterId !== undefined)
    return shortenBatch(writer, lease, batch.lastId, shorterId);
  await failBatch(writer, lease, sent);
  if (sent.gone) await disableWhenGone(writer, lease);
}

async function attempt(
  { formats, send, tokens }: BatchOptions,
  opened: OpenDestination,
  batch: LogBatch,
  renew: () => Promise<void>,
  stopped: AbortSignal,
): Promise<SendResult> {
  const format = formats[opened.channel];
  if (format.makeBatch === undefined) throw new Error(`The channel ${opened.channel} sends no log.`);
  const destination = await tokens.authorize(format, opened);
  const { accountId, firstId, lastId, epoch } = batch;
  const answer = await send(
    await format.request(destination, {
      ...format.makeBatch(batch, destination.settings),
      eventId: `log_${accountId}_${destination.destinationId}_${epoch}_${firstId}_${lastId}`,
      epoch,
      sequence: lastId,
      at: Math.floor(Date.now() / 1_000),
      batch,
    }),
  );
  if (answer.status === 401) tokens.forget(opened);
  const sent = format.judge?.(answer) ?? answer;
  if (!sent.accepted) return sent;
  const confirmation = format.confirmation?.(destination, sent.response) ?? null;
  if (confirmation === null) return sent;
  for (let asked = 1; asked <= CONFIRM_ATTEMPTS && !stopped.aborted; asked += 1) {
    const status = await send(confirmation.request);
    if (status.accepted && confirmation.isConfirmed(status.response))
      return { ...sent, result: `${sent.result}, indexed` };
    // A receiver that is busy or away for a moment has the batch: sent again, it would be there twice.
    const isRefused = status.status !== null && status.status < 500 && status.status !== 429;
    if (!status.accepted && isRefused)
      return { ...status, result: `It was accepted, but not acknowledged: ${status.result}` };
    if (asked % RENEW_EVERY === 0) await renew();
    await wait(CONFIRM_EVERY_MS, undefined, { signal: stopped }).catch(() => {});
  }
  return {
    ...sent,
    accepted: false,
    result: 'It was accepted, but the indexer did not acknowledge it in time.',
  };
}

function failureSentence(error: unknown, log: AttemptDeps['log']): string {
  if (hasPublicMessage(error)) return error.message;
  log.error(errorFields(error, log), 'the batch of a log stream could not be made');
  return "The batch could not be made: see the service's log.";
}
