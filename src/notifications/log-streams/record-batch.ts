import type pg from 'pg';
import type { LogBatch } from '../channels/channel.ts';
import type { SendResult } from '../sending/outgoing.ts';
import { STREAM_LEASE_SECONDS, type StreamLease } from './lease-streams.ts';

type StreamKey = Pick<StreamLease, 'accountId' | 'destinationId' | 'nextId'>;

// Each needs the stream to be where it was leased: another process may have sent the batch since, or a person moved it.
const begin = `
  update log_stream
     set batch_id = $4
   where account_id = $1 and destination_id = $2 and next_id = $3 and (batch_id is null or batch_id = $4)`;

const pass = `
  update log_stream
     set scanned_id = greatest(scanned_id, $4::bigint), due_at = now()
   where account_id = $1 and destination_id = $2 and next_id = $3 and batch_id is null`;

const accept = `
  with moved as (
    update log_stream
       set next_id = $4::bigint + 1, scanned_id = greatest(scanned_id, $4::bigint), batch_id = null, attempts = 0, due_at = now(),
           entries = entries + $5::bigint, delivered_at = now()
     where account_id = $1 and destination_id = $2 and next_id = $3 and batch_id = $4
    returning 1
  )
  update destination_queue
     set failing_since = null, last_success_at = now(), last_attempt_at = now(), last_result = $6
   where account_id = $1 and destination_id = $2 and exists (select from moved)`;

const fail = `
  with kept as (
    update log_stream
       set attempts = attempts + 1, due_at = now() + $4::float8 * interval '1 s'
     where account_id = $1 and destination_id = $2 and next_id = $3
    returning 1
  )
  update destination_queue
     set failing_since = coalesce(failing_since, now()), last_attempt_at = now(), last_result = $5
   where account_id = $1 and destination_id = $2 and exists (select from kept)`;

const shorten = `
  update log_stream
     set batch_id = $5, due_at = now()
   where account_id = $1 and destination_id = $2 and next_id = $3 and batch_id = $4`;

const renew = `
  update log_stream
     set due_at = now() + interval '${STREAM_LEASE_SECONDS} s'
   where account_id = $1 and destination_id = $2 and next_id = $3`;

/** Stores where a batch ends, before it is sent: every attempt sends the same range. False: the stream is elsewhere now. */
export async function beginBatch(writer: pg.Pool, stream: StreamKey, lastId: number): Promise<boolean> {
  const { rowCount } = await writer.query(begin, [
    stream.accountId,
    stream.destinationId,
    stream.nextId,
    lastId,
  ]);
  return rowCount === 1;
}

/** Ends a batch that its receiver finds too large at an earlier entry. It is sent at once. */
export async function shortenBatch(
  writer: pg.Pool,
  stream: StreamKey,
  lastId: number,
  shorterId: number,
): Promise<void> {
  const { accountId, destinationId, nextId } = stream;
  await writer.query(shorten, [accountId, destinationId, nextId, lastId, shorterId]);
}

/** Keeps a lease whose batch is accepted but not confirmed yet. */
export async function renewLease(
  writer: pg.Pool,
  { accountId, destinationId, nextId }: StreamKey,
): Promise<void> {
  await writer.query(renew, [accountId, destinationId, nextId]);
}

/** Stores that the filter leaves out all entries up to this one. */
export async function passEntries(writer: pg.Pool, stream: StreamKey, scannedId: number): Promise<void> {
  await writer.query(pass, [stream.accountId, stream.destinationId, stream.nextId, scannedId]);
}

/** Moves a stream behind the batch that its receiver accepted. */
export async function acceptBatch(
  writer: pg.Pool,
  stream: StreamKey,
  { lastId, lines }: Pick<LogBatch, 'lastId' | 'lines'>,
  { result }: Pick<SendResult, 'result'>,
): Promise<void> {
  const { accountId, destinationId, nextId } = stream;
  await writer.query(accept, [accountId, destinationId, nextId, lastId, lines.length, result]);
}

const LONGEST_PAUSE = 300;

/** Seconds until the next attempt: 5, 10, 20 … up to 5 minutes, or longer if the receiver asks for it. A stream never gives up. */
function secondsToRetryStream(attempts: number, retryAfter: number | null, random = Math.random()): number {
  const pause = Math.min(5 * 2 ** Math.min(attempts, 10), LONGEST_PAUSE) * (0.9 + 0.2 * random);
  return Math.max(pause, Math.min(retryAfter ?? 0, 86_400));
}

/** Keeps a batch that was not accepted for a later attempt. */
export async function failBatch(
  writer: pg.Pool,
  stream: StreamKey & Pick<StreamLease, 'attempts'>,
  { result, retryAfter }: Pick<SendResult, 'result' | 'retryAfter'>,
): Promise<void> {
  const { accountId, destinationId, nextId, attempts } = stream;
  const pause = secondsToRetryStream(attempts, retryAfter);
  await writer.query(fail, [accountId, destinationId, nextId, pause, result]);
}
