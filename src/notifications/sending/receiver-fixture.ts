import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import type { OutgoingHttp } from './outgoing.ts';
import { Routes } from './pinned-routes.ts';
import { sendHttp } from './send-http.ts';
import { LIMITS } from './send-limits.ts';

const pem = (name: string) => readFileSync(new URL(`../../../test/certificates/${name}`, import.meta.url));

/**
 * Trusts the authorities of the test's receivers during the tests of a file; the files after it run in the same process. Returns
 * them.
 */
export function trustReceivers(): string[] {
  const authorities = ['authority.pem', 'receivers-authority.pem'].map((name) => pem(name).toString());
  const before = getCACertificates();
  beforeAll(() => setDefaultCACertificates([...before, ...authorities]));
  afterAll(() => setDefaultCACertificates(before));
  return authorities;
}

/** A receiver on a real socket: `act` gets each connection. */
interface Receiver {
  port: number;
  /** How many connections it got. */
  connections: number;
  close(): void;
}

/** Listens on a free port of 127.0.0.1 and, if it has one, of ::1. */
function startReceiver(act: (socket: Socket) => void): Promise<Receiver> {
  return listen(createServer(act));
}

/** The same with TLS, by a certificate of test/certificates. */
function startTlsReceiver(name: string, act: (socket: Socket) => void): Promise<Receiver> {
  const key = pem(name === 'renewed' ? 'renewed.key' : 'server.key');
  return listen(createTlsServer({ key, cert: pem(`${name}.pem`) }, act));
}

async function listen(server: Server): Promise<Receiver> {
  const sockets = new Set<Socket>();
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const receiver: Receiver = { port, connections: 0, close };
  server.on('connection', (socket) => {
    receiver.connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  return receiver;
}

/** Answers each request, once its head has come, with these bytes. */
export function answering(...answers: string[]): (socket: Socket) => void {
  return (socket) => {
    let head = '';
    socket.on('error', () => {});
    socket.on('data', (data) => {
      head += data.toString('latin1');
      if (!head.includes('\r\n\r\n')) return;
      head = '';
      socket.write(answers.length > 1 ? (answers.shift() ?? '') : (answers[0] ?? ''));
    });
  };
}

/** A request of a webhook. */
export function requestTo(url: string, more: Partial<OutgoingHttp> = {}): OutgoingHttp {
  const headers = { 'content-type': 'application/json', 'webhook-id': 'evt_1' };
  return { protocol: 'http', method: 'POST', url, headers, body: '{"a":1}', secretHeaders: [], ...more };
}

/** The shortest answer that is accepted. */
export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** The limits of the product, while those of a test are {@link shortenLimits}. */
export const WHOLE_LIMITS = { ...LIMITS };

/** Shortens waits until the end of a test whose receiver lets them pass. Others have those of the product: a busy machine is slow with a handshake. */
export function shortenLimits(limits: Partial<typeof LIMITS>): void {
  Object.assign(LIMITS, limits);
  onTestFinished(() => void Object.assign(LIMITS, WHOLE_LIMITS));
}

/** Starts receivers, which close after each test. */
export function receivers() {
  const open: Receiver[] = [];
  afterEach(() => {
    for (const receiver of open.splice(0)) receiver.close();
  });
  const keep = async (started: Promise<Receiver>) => {
    const receiver = await started;
    open.push(receiver);
    return receiver;
  };
  return {
    receive: (act: (socket: Socket) => void) => keep(startReceiver(act)),
    receiveTls: (certificate: string, act = answering(OK)) => keep(startTlsReceiver(certificate, act)),
  };
}

/** Sends a request, with private addresses allowed. */
export function send(url: string, more: Partial<OutgoingHttp> = {}, routes = new Routes(true)) {
  return sendHttp(requestTo(url, more), true, routes);
}

/** An attempt without an answer. */
export function failed(result: string | RegExp) {
  return {
    status: null,
    accepted: false,
    response: '',
    retryAfter: null,
    gone: false,
    result: typeof result === 'string' ? result : expect.stringMatching(result),
  };
}
