import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { signRequest } from '../../platform/http-signature.ts';
import type { CollectorIdentity } from './collector-key.ts';

/** The service refused a request. The message is its own. */
export class ServiceRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The service can't be reached, or is not one: the request may be sent again. */
export class ServiceAway extends Error {}

/** A kept connection that the service closed while the request was on its way: it is sent again, on a new one. */
class StaleConnection extends ServiceAway {}

/** The service answers a question for work after 20 s. */
const ANSWER_MS = 30_000;
const LARGEST_ANSWER = 32 * 1024 * 1024;
const LONGEST_MESSAGE = 500;

/** After so long a connection is not used again, so that a service whose name has another address now is found there. */
const REDIAL_MS = 300_000;
/** A kept connection that nothing uses is closed. */
const IDLE_MS = 60_000;

const compress = promisify(gzip);

/** A clock that is set back by more is followed; until then, many requests of a millisecond count on. */
const SET_BACK = 1_000_000;

let last = 0;

/** Microseconds since 1970, another one at each call. */
export function nextNonce(now = Date.now()): number {
  const micros = now * 1_000 + Math.floor(Math.random() * 1_000);
  last = last - micros > SET_BACK ? micros : Math.max(last + 1, micros);
  return last;
}

/** Sends a signed request. Returns the answer. Throws {@link ServiceRefused} and {@link ServiceAway}. */
export async function callService(
  { url, account, collector, key }: CollectorIdentity,
  action: 'work' | 'result' | 'past' | 'pulse' | 'look',
  content: object,
  signal: AbortSignal,
): Promise<unknown> {
  const target = addressOf(url, action);
  const body = await compress(JSON.stringify(content));
  const request = { method: 'POST', path: target.pathname, body, keyId: `${account}/${collector}` };
  const sendSigned = () => {
    const signed = signRequest(key, { ...request, nonce: nextNonce() });
    return send(target, body, { ...signed, 'content-encoding': 'gzip' }, signal);
  };
  return sendSigned().catch((error: unknown) => {
    if (error instanceof StaleConnection) return sendSigned();
    throw error;
  });
}

/** What a collector sends to be enrolled, and gets. */
export interface EnrolRequest {
  token: string;
  name: string;
  /** Base64. */
  public_key: string;
  version: string;
}

/** Enrols a collector. Throws {@link ServiceRefused} and {@link ServiceAway}. */
export async function enrol(
  url: string,
  content: EnrolRequest,
  signal: AbortSignal,
): Promise<{ account: number; collector: number }> {
  const answer = await send(addressOf(url, 'enrol'), Buffer.from(JSON.stringify(content)), {}, signal);
  const { account, collector } = answer as { account?: unknown; collector?: unknown };
  if (typeof account !== 'number' || typeof collector !== 'number')
    throw new ServiceAway('the answer is not that of dbvitals');
  return { account, collector };
}

function addressOf(url: string, action: string): URL {
  return new URL(`collector/${action}`, url.endsWith('/') ? url : `${url}/`);
}

async function send(
  url: URL,
  body: Buffer,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<unknown> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const response = await exchange(url, body, headers, until);
  const text = await readText(response).catch((error: unknown) => {
    throw new ServiceAway(reasonOf(error));
  });
  const answer = parse(text);
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status <= 299 && answer !== null) return answer;
  const message = (answer as { error?: { message?: unknown } } | null)?.error?.message;
  if (status < 500 && typeof message === 'string')
    throw new ServiceRefused(status, message.slice(0, LONGEST_MESSAGE));
  throw new ServiceAway(`it answers with status ${status}`);
}

/** Redirects are not followed: another server must not get what was signed for this one. */
function exchange(
  url: URL,
  body: Buffer,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === 'https:' ? https : http)
    .request(url, {
      method: 'POST',
      agent: findAgent(url),
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip', ...headers },
      signal,
    })
    .once('response', resolve)
    .on('error', (error: NodeJS.ErrnoException) => {
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET';
      reject(new (isStale ? StaleConnection : ServiceAway)(reasonOf(error)));
    });
  outgoing.end(body);
  return promise;
}

let dialled: { protocol: string; agent: http.Agent; since: number } | null = null;

/** What keeps connections. HTTPS goes through the proxy of HTTPS_PROXY, if there is one. */
function findAgent({ protocol }: URL): http.Agent {
  const now = performance.now();
  if (dialled?.protocol === protocol && now - dialled.since < REDIAL_MS) return dialled.agent;
  const options = { keepAlive: true, timeout: IDLE_MS };
  const agent =
    protocol === 'https:' ? new https.Agent({ ...options, proxyEnv: process.env }) : new http.Agent(options);
  dialled = { protocol, agent, since: now };
  return agent;
}

async function readText(response: IncomingMessage): Promise<string> {
  const isPacked = response.headers['content-encoding'] === 'gzip';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of isPacked ? pipeline(response, createGunzip(), () => {}) : response) {
    bytes += chunk.length;
    if (bytes > LARGEST_ANSWER) throw new Error('the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' ? answer : null;
  } catch {
    return null;
  }
}

/** What Node says of a certificate whose authority it does not know. */
const UNTRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
];

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const cause = error.cause instanceof Error ? error.cause : error;
  const isUntrusted = 'code' in cause && UNTRUSTED.includes(String(cause.code));
  const advice = isUntrusted ? ' (name a file with its authority in NODE_EXTRA_CA_CERTS)' : '';
  return `${cause.message || cause.name}${advice}`;
}
