import type { IncomingMessage, RequestOptions } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { pinnedLookup } from '../../platform/network/address.ts';
import { plainHttp } from '../../platform/network/plain-http.ts';
import { version } from '../../platform/package-root.ts';
import { urlProblem } from './check-url.ts';
import { failedAttempt } from './failed-attempt.ts';
import { httpFailure } from './http-failure.ts';
import type { InBytes, OutgoingHttp, SendResult } from './outgoing.ts';
import type { Route, Routes } from './pinned-routes.ts';
import { readAnswer, retryAfterOf } from './read-answer.ts';
import { EndlessAnswer, LIMITS, TooSlow } from './send-limits.ts';
import { statusResult } from './status-result.ts';

// Headers that frame the message or say where it goes: only this file sets them.
const OWN = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'proxy-authorization',
  'proxy-connection',
  'accept-encoding',
]);

/** Sends one HTTP request to a vetted address. Never throws. */
export async function sendHttp(
  request: InBytes<OutgoingHttp>,
  allowPrivate: boolean,
  routes: Routes,
): Promise<SendResult> {
  const began = performance.now();
  const failed = (result: string) => failedAttempt(result, began);
  const problem = urlProblem(request.url, allowPrivate);
  if (problem !== null) return failed(problem);
  const url = new URL(request.url);
  let route: Route | null = null;
  try {
    route = await soon(routes.to(url));
    const answer = await answerOf(request, url, route, began);
    const status = answer.statusCode ?? 0;
    const accepted = status >= 200 && status <= 299;
    const retryAfter = accepted ? null : retryAfterOf(answer.headers['retry-after']);
    // Lists of deliveries show the result: why the next attempt is so late.
    const wait = retryAfter ? `, Retry-After: ${retryAfter} s` : '';
    const result = statusResult(status, answer.headers.location, url) + wait;
    const response = await readAnswer(answer, request.wholeAnswer ? LIMITS.readBytes : LIMITS.keptBytes);
    const milliseconds = Math.round(performance.now() - began);
    return { status, accepted, result, response, milliseconds, retryAfter, gone: status === 410 };
  } catch (error) {
    routes.forget(url);
    return failed(await httpFailure(error, url, route));
  }
}

/** Settles as the lookup, or rejects when that takes too long. */
function soon<T>(lookup: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TooSlow('lookup')), LIMITS.connectMs);
    lookup.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

async function answerOf(
  request: InBytes<OutgoingHttp>,
  url: URL,
  route: Route,
  began: number,
): Promise<IncomingMessage> {
  try {
    return await exchange(request, url, { agent: route.agent }, began);
  } catch (error) {
    // The receiver closed an idle connection while the request was on its way: it gets it again, on a new one.
    if (!(error instanceof StaleConnection)) throw error;
    return await exchange(request, url, { agent: false, lookup: pinnedLookup(route.addresses) }, began);
  }
}

class StaleConnection extends Error {}

/** The status and headers of the answer. Its body is not read yet. */
function exchange(
  { method, headers, body, isBase64 }: InBytes<OutgoingHttp>,
  url: URL,
  connection: Pick<RequestOptions, 'agent' | 'lookup'>,
  began: number,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const outgoing = (url.protocol === 'https:' ? https : plainHttp).request(url, {
    ...connection,
    method,
    maxHeaderSize: LIMITS.headerBytes,
    insecureHTTPParser: false,
    headers: {
      'user-agent': `dbvitals/${version}`,
      ...Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN.has(name.toLowerCase()))),
      'accept-encoding': 'identity',
    },
  });
  const endIn = (ms: number, phase: TooSlow['phase']) =>
    setTimeout(() => outgoing.destroy(new TooSlow(phase)), Math.max(ms - (performance.now() - began), 0));
  const connecting = endIn(LIMITS.connectMs, 'connect');
  const whole = endIn(LIMITS.wholeMs, 'answer');
  let interim = 0;
  outgoing
    .on('socket', (socket: Socket) => {
      const isConnected = () => clearTimeout(connecting);
      if (outgoing.reusedSocket) isConnected();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', isConnected);
    })
    .on('information', () => {
      interim++;
      if (interim > LIMITS.interim) outgoing.destroy(new EndlessAnswer());
    })
    .on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new Error('upgrade'));
    })
    .on('error', (error: NodeJS.ErrnoException) =>
      reject(
        outgoing.reusedSocket && /^(?:ECONNRESET|EPIPE)$/.test(error.code ?? '')
          ? new StaleConnection()
          : error,
      ),
    )
    .on('response', resolve);
  outgoing.end(typeof body === 'string' ? Buffer.from(body, isBase64 ? 'base64' : 'utf8') : body);
  return promise.finally(() => {
    clearTimeout(connecting);
    clearTimeout(whole);
  });
}
