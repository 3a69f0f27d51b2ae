import type { IncomingMessage, ServerResponse } from 'node:http';
import { verifiesSignature } from '../../notifications/channels/verify-signature.ts';
import { jsonLine } from '../print.ts';

/** The largest body that is read. A body of dbvitals has at most 20 kB. */
const LARGEST_BODY = 64 * 1024;

/** How far a delivery's time may be from now: a repeated one is refused after that (Standard Webhooks). */
const TOLERANCE_S = 5 * 60;

/** A received request, as lines for a person, and as one line of JSON. Both end with a newline. */
export interface ReceivedLine {
  text: string;
  json: string;
}

/** Reads a webhook, prints it, and answers: 204, or 4xx if it is none or its signature is wrong. */
export function receiveWebhook(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string | null,
  print: (line: ReceivedLine) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const answer = (status: number) => {
    if (!response.headersSent) response.writeHead(status, { connection: 'close' }).end();
  };
  request.on('error', () => {});
  response.on('error', () => {});
  if (request.method !== 'POST') {
    request.resume();
    answer(405);
    return;
  }
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= LARGEST_BODY) chunks.push(chunk);
    else {
      answer(413);
      request.destroy();
    }
  });
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    const problem = problemOf(request, body, secret);
    print(lineOf(request, body, secret, problem));
    answer(problem === null ? 204 : 400);
  });
}

/** Why a delivery is not accepted; null = it is. Without a secret, only the form is checked. */
function problemOf({ headers }: IncomingMessage, body: string, secret: string | null): string | null {
  const [id, at, signature] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map(
    (name) => headers[name],
  );
  if (typeof id !== 'string' || typeof at !== 'string' || typeof signature !== 'string')
    return 'the headers of a webhook are missing';
  if (!/^[0-9]{1,12}$/.test(at)) return 'webhook-timestamp is not a Unix time';
  if (secret === null) return null;
  if (Math.abs(Date.now() / 1_000 - Number(at)) > TOLERANCE_S)
    return 'webhook-timestamp is over 5 minutes from now';
  const isSigned = verifiesSignature({ id, at: Number(at), body }, signature, secret);
  return isSigned ? null : 'the signature is wrong';
}

function lineOf(
  request: IncomingMessage,
  body: string,
  secret: string | null,
  problem: string | null,
): ReceivedLine {
  const { headers } = request;
  const verified = secret === null ? null : problem === null;
  const kept = Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => /^(?:webhook|dbvitals)-/.test(name) && name !== 'webhook-signature',
    ),
  );
  const parsed = parse(body);
  const said = problem ?? (verified ? 'verified' : 'not verified');
  const lines = [
    `${new Date().toISOString()} ${said}`,
    ...Object.entries(kept).map(([name, value]) => `  ${name}: ${shown(String(value))}`),
    shown(parsed === undefined ? body : JSON.stringify(parsed, null, 2)),
  ];
  return {
    text: `${lines.join('\n')}\n`,
    json: jsonLine({ verified, problem, headers: kept, body: parsed ?? body }),
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Text of strangers for a terminal: without escape sequences and bidirectional controls. */
function shown(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029]/gu, '\ufffd');
}
