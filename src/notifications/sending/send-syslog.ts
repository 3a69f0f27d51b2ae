import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { DESTINATION, pinnedLookup, resolveTarget } from '../../platform/network/address.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { hostOf, urlProblem } from './check-url.ts';
import { failedAttempt } from './failed-attempt.ts';
import { httpFailure } from './http-failure.ts';
import type { InBytes, OutgoingSyslog, SendResult } from './outgoing.ts';
import { LIMITS, TooSlow } from './send-limits.ts';

/** The ports of RFC 5425 and RFC 6587. */
const PORTS = { 'syslog+tls:': 6_514, 'syslog+tcp:': 601 } as const;

/**
 * Sends frames of syslog on a connection of their own, closes its side, and waits until the receiver closes too: it has read all
 * by then, which is all that syslog can say. A receiver that resets, or does not close in time, may have lost some: that is a
 * failed attempt. Never throws.
 */
export async function sendSyslog(
  { url: text, body }: InBytes<OutgoingSyslog>,
  allowPrivate: boolean,
): Promise<SendResult> {
  const began = performance.now();
  const problem = urlProblem(text, allowPrivate, 'syslog');
  if (problem !== null) return failedAttempt(problem, began);
  const url = new URL(text);
  const protocol = url.protocol as keyof typeof PORTS;
  const host = hostOf(url);
  try {
    const addresses = await within(
      resolveTarget(host, allowPrivate, DESTINATION),
      LIMITS.connectMs,
      'lookup',
    );
    const to = { host, port: Number(url.port || PORTS[protocol]), lookup: pinnedLookup(addresses) };
    const socket =
      protocol === 'syslog+tls:'
        ? connectTls({ ...to, ...(isIP(host) === 0 && { servername: host }) })
        : connectPlain(to);
    await deliver(socket, protocol === 'syslog+tls:' ? 'secureConnect' : 'connect', body, began);
  } catch (error) {
    return failedAttempt(await httpFailure(error, url, null), began);
  }
  const milliseconds = Math.round(performance.now() - began);
  const result = `${cleanText(url.host, 200)} read the messages and closed.`;
  return { status: null, accepted: true, result, response: '', milliseconds, retryAfter: null, gone: false };
}

/** Writes the body, and resolves when the receiver has closed after it. */
function deliver(socket: Socket, connected: string, body: string | Buffer, began: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const endIn = (ms: number, phase: TooSlow['phase']) =>
    setTimeout(() => socket.destroy(new TooSlow(phase)), Math.max(ms - (performance.now() - began), 0));
  const connecting = endIn(LIMITS.connectMs, 'connect');
  const whole = endIn(LIMITS.wholeMs, 'answer');
  let isWritten = false;
  socket
    .once(connected, () => {
      clearTimeout(connecting);
      socket.end(body, () => {
        isWritten = true;
      });
    })
    .on('error', reject)
    // Receivers of syslog answer nothing; what comes is thrown away, at most so much.
    .on('data', () => socket.bytesRead > LIMITS.readBytes && socket.destroy(new Error('endless')))
    .once('close', (failed) => {
      if (!failed && isWritten) resolve();
      else reject(Object.assign(new Error('closed early'), { code: 'ECONNRESET' }));
    });
  return promise.finally(() => {
    clearTimeout(connecting);
    clearTimeout(whole);
    socket.destroy();
  });
}

function within<T>(work: Promise<T>, ms: number, phase: TooSlow['phase']): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TooSlow(phase)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
