import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
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

/** The service answers a question for work after 20 s. */
const ANSWER_MS = 30_000;
const LARGEST_ANSWER = 32 * 1024 * 1024;
const LONGEST_MESSAGE = 500;

const compress = promisify(gzip);

let last = 0;

/** Microseconds since 1970, greater at each call. */
function nextNonce(): number {
  last = Math.max(last + 1, Date.now() * 1_000);
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
  const request = { method: 'POST', path: target.pathname, body };
  const signed = signRequest(key, { ...request, keyId: `${account}/${collector}`, nonce: nextNonce() });
  return send(target, body, { ...signed, 'content-encoding': 'gzip' }, signal);
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
  const response = await fetch(url, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip', ...headers },
    redirect: 'error', // another server must not get what was signed for this one
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  }).catch((error: unknown) => {
    throw new ServiceAway(reasonOf(error));
  });
  const text = await readText(response).catch((error: unknown) => {
    throw new ServiceAway(reasonOf(error));
  });
  const answer = parse(text);
  if (response.ok && answer !== null) return answer;
  const message = (answer as { error?: { message?: unknown } } | null)?.error?.message;
  if (response.status < 500 && typeof message === 'string')
    throw new ServiceRefused(response.status, message.slice(0, LONGEST_MESSAGE));
  throw new ServiceAway(`it answers with status ${response.status}`);
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
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

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  return cause instanceof Error ? cause.message || cause.name : error.message;
}
