import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { signRequest } from '../../platform/http-signature.ts';
import { errorCode } from '../../platform/network/error-code.ts';
import { plainHttp } from '../../platform/network/plain-http.ts';
import type { CollectorIdentity } from './collector-key.ts';
import { findAgent, redial } from './service-agent.ts';

/** The service refused a request. The message is its own. */
export class ServiceRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The service has no time for this collector now. */
export const isBusy = (error: unknown) => error instanceof ServiceRefused && error.status === 429;

/** The same request would be refused again. */
export const isFinal = (error: unknown) => error instanceof ServiceRefused && !isBusy(error);

/** The service has no such run any more. It may have stored it, and the answer was lost. */
export const hasNoRun = (error: unknown) => error instanceof ServiceRefused && error.status === 409;

/** The service can't be reached, or is not one: the request may be sent again. */
export class ServiceAway extends Error {}

/** A kept connection that the service closed while the request was on its way: it is sent again, on a new one. */
class StaleConnection extends ServiceAway {}

/** The service answers a question for work after 20 s. */
const ANSWER_MS = 30_000;
const LARGEST_ANSWER = 32 * 1024 * 1024;
const LONGEST_MESSAGE = 500;

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
  const response = await exchange(url, body, headers, until).catch(async (error: unknown) => {
    throw error instanceof StaleConnection ? error : new ServiceAway(await explainFailure(error, url));
  });
  const text = await readText(response).catch(async (error: unknown) => {
    throw new ServiceAway(await explainFailure(error, url));
  });
  const answer = parse(text);
  const { statusCode: status = 0 } = response;
  if (status >= 200 && status <= 299 && answer !== null) return answer;
  const message = (answer as { error?: { message?: unknown } } | null)?.error?.message;
  if (status < 500 && typeof message === 'string')
    throw new ServiceRefused(status, message.slice(0, LONGEST_MESSAGE));
  throw new ServiceAway(describeStranger(status));
}

/** What answers without an error of dbvitals: a proxy, a load balancer or the page of a sign-in. */
function describeStranger(status: number): string {
  if (status >= 200 && status <= 299) return `what answers is not dbvitals (status ${status})`;
  if (status >= 300 && status <= 399)
    return `it redirects (status ${status}), which is not followed: --url must be the address of the service itself`;
  return `it answers with status ${status}`;
}

/** Redirects are not followed: another server must not get what was signed for this one. */
function exchange(
  url: URL,
  body: Buffer,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === 'https:' ? https : plainHttp)
    .request(url, {
      method: 'POST',
      agent: findAgent(url),
      headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip', ...headers },
      signal,
    })
    .once('response', resolve)
    .on('error', (error: NodeJS.ErrnoException) => {
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET';
      reject(isStale ? new StaleConnection(error.message) : error);
    });
  outgoing.end(body);
  return promise;
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

/** Why the service was not reached, as a part of a sentence. */
async function explainFailure(error: unknown, { hostname, port }: URL): Promise<string> {
  if (!(error instanceof Error)) return 'unknown';
  const place = { name: 'the service', host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
  // An idle collector needs none of this.
  const { certificateProblem } = await import('../../platform/network/certificate-problem.ts');
  const certificate = await certificateProblem(error, { ...place, addresses: null });
  // The error of several addresses has no message.
  if (certificate === null) return error.message || errorCode(error) || error.name;
  redial();
  return certificate.replace(/^T/, 't').replace(/\.$/, '');
}
