import type pg from 'pg';
import type { Logger } from 'pino';
import type { SecretKeys } from '../../platform/encryption.ts';
import { LostAccountKey } from '../../store/account-key.ts';
import { errorFields, isStoreFailure } from '../../store/store-failure.ts';
import type { ChannelFormat, OpenDestination } from '../channels/channel.ts';
import { TamperedDestination } from '../destinations/destination-secrets.ts';
import { openDestination } from '../destinations/open-destination.ts';
import type { OutgoingRequest, Send, SendResult } from '../sending/outgoing.ts';
import { type AccessTokens, NoToken } from './access-tokens.ts';
import type { Lease } from './lease-deliveries.ts';
import { messageOf } from './make-message.ts';

/** An attempt that ended. */
export interface EndedAttempt {
  lease: Lease;
  startedAt: Date;
  sent: SendResult;
  /** The headers that were sent, without secrets. */
  headers: Readonly<Record<string, string>>;
  /** Why the destination can't be trusted, if its settings were changed outside dbvitals: nothing was sent. */
  tampered?: string;
}

/** Opens the destination of a lease; null = it was removed. */
export type Open = (destination: Lease['destination']) => Promise<OpenDestination | null>;

/** What an attempt needs. */
export interface AttemptDeps {
  writer: pg.Pool;
  secret: SecretKeys;
  send: Send;
  tokens: AccessTokens;
  /** The console's URL without a slash at the end. */
  consoleUrl: () => string;
  log: Pick<Logger, 'info' | 'warn' | 'error' | 'isLevelEnabled'>;
}

/**
 * Sends what was leased, and returns how that ended. A request that can't be made, such as to a destination that was
 * tampered with, is a failed attempt. Null: the lease is no longer this process's, and nothing was sent. Throws errors of
 * the store.
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  lease: Lease,
  format: ChannelFormat,
  open: Open,
): Promise<EndedAttempt | null> {
  const startedAt = new Date();
  let request: OutgoingRequest | null;
  try {
    request = await makeRequest(deps, lease, format, open, startedAt);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    const sent = failure(sentenceOf(error, deps.log));
    const tampered = error instanceof TamperedDestination ? { tampered: error.reason } : {};
    return { lease, startedAt, sent, headers: {}, ...tampered };
  }
  if (request === null) return null;
  const headers = keptHeaders(request);
  if (request.protocol === 'smtp' && request.messages.length === 0)
    return { lease, startedAt, sent: failure('No recipient has confirmed yet.'), headers };
  const answer = await deps.send(request);
  if (answer.status === 401) deps.tokens.forget(lease.destination);
  return { lease, startedAt, sent: format.judge?.(answer) ?? answer, headers };
}

async function makeRequest(
  { writer, consoleUrl, tokens }: AttemptDeps,
  lease: Lease,
  format: ChannelFormat,
  open: Open,
  startedAt: Date,
): Promise<OutgoingRequest | null> {
  const [first] = lease.deliveries;
  const message = format.makeMessage
    ? await messageOf(writer, lease, format.makeMessage, consoleUrl())
    : { contentType: 'application/json', body: first.body };
  const destination = message && (await open(lease.destination));
  if (!destination) return null; // a removed destination's deliveries are cancelled
  return await format.request(await tokens.authorize(format, destination), {
    ...message,
    eventId: first.event_id,
    epoch: first.epoch,
    sequence: first.sequence,
    at: Math.floor(startedAt.getTime() / 1_000),
  });
}

/** Opens each destination once for all that is leased at a time. */
export function opener({ writer, secret }: Pick<AttemptDeps, 'writer' | 'secret'>): Open {
  const opened = new Map<number, Promise<OpenDestination | null>>();
  return ({ accountId, destinationId }) => {
    const known = opened.get(destinationId) ?? openDestination(writer, secret, accountId, destinationId);
    opened.set(destinationId, known);
    return known;
  };
}

/** Whether the message of an error is a sentence for members. */
export function hasPublicMessage(error: unknown): error is Error {
  return [TamperedDestination, LostAccountKey, NoToken].some((kind) => error instanceof kind);
}

function sentenceOf(error: unknown, log: AttemptDeps['log']): string {
  if (hasPublicMessage(error)) return error.message;
  log.error(errorFields(error, log), 'the request of a notification could not be made');
  return "The request could not be made: see the service's log.";
}

const failure = (result: string): SendResult => ({
  status: null,
  accepted: false,
  result,
  response: '',
  milliseconds: 0,
  retryAfter: null,
  gone: false,
});

/** The headers of a request that may be shown. The links to unsubscribe are secrets of the recipients. */
function keptHeaders(request: OutgoingRequest): Record<string, string> {
  if (request.protocol === 'http') {
    const shown = ([name]: [string, string]) => !request.secretHeaders.includes(name.toLowerCase());
    return Object.fromEntries(Object.entries(request.headers).filter(shown));
  }
  if (request.protocol === 'syslog') return {};
  const [message] = request.messages;
  if (!message) return {};
  const shown = ([name]: [string, string]) => !/^list-unsubscribe/i.test(name);
  return {
    To: request.messages.map(({ to }) => to).join(', '),
    Subject: message.subject,
    ...Object.fromEntries(Object.entries(message.headers).filter(shown)),
  };
}
