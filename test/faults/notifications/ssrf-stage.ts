import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startSender } from '../../../src/notifications/sending/send-in-child.ts';
import { startNameServer } from './name-server.ts';
import {
  answerOf,
  HANGING,
  INNER,
  METADATA_URLS,
  PUBLIC,
  rebinding,
  WRONG_NAMES,
  WRONG_URLS,
} from './ssrf-cases.ts';

/** What the stage prints, for notify-ssrf.ts. */
export interface SsrfResult {
  /** Requests that had to be refused. */
  cases: number;
  /** The URLs of those that were not, or without a sentence. */
  notRefused: string[];
  /** Connections to addresses that are not public. */
  reached: number;
  /** Requests that the public receiver got although its name pointed here by then. */
  rebound: string[];
  redirect: string;
  /** Of a request while 40 lookups hang. */
  besideHangingMs: number;
  /** Of the slowest refusal. */
  slowestMs: number;
  /** A request to a private address, allowed. */
  allowed: string;
}

// This process has a network and mounts of its own.
const run = (...args: string[]) => execFileSync('ip', args);
run('link', 'set', 'lo', 'up');
for (const address of [PUBLIC, ...INNER])
  run('addr', 'add', `${address}/${address.includes(':') ? 128 : 32}`, 'dev', 'lo');
const folder = mkdtempSync(join(tmpdir(), 'dbvitals-ssrf-'));
const put = (path: string, text: string) => {
  const file = join(folder, path.replaceAll('/', '_'));
  writeFileSync(file, text, { mode: 0o644 });
  execFileSync('mount', ['--bind', file, path]);
};
put('/etc/resolv.conf', 'nameserver 127.0.0.1\n');
put('/etc/hosts', '');
put('/etc/nsswitch.conf', 'hosts: dns\n');
await startNameServer(answerOf);

const pem = (name: string) => readFileSync(new URL(`../../certificates/${name}`, import.meta.url));
let reached = 0;
const count = (socket: Socket) => {
  if (socket.localAddress?.replace('::ffff:', '') !== PUBLIC) reached++;
};
const receiver = createTlsServer({ key: pem('server.key'), cert: pem('hooks.pem') }, (request, response) => {
  if (request.url === '/redirect') response.writeHead(307, { location: 'https://127.0.0.1/inner' });
  response.end('public');
});
receiver.on('connection', count).listen(443, '::');
const plain = createServer((_, response) => response.end('plain'));
plain.on('connection', count).listen(80, '::');
await Promise.all([once(receiver, 'listening'), once(plain, 'listening')]);

const log = pino({ level: 'silent' });
const open = (allowPrivate: boolean) => startSender({ allowPrivate, smtpUrl: null, mailFrom: null, log });
const careful = open(false);
const lax = open(true);
const sendBy = (sender: typeof careful, url: string) =>
  sender.send({ protocol: 'http', method: 'POST', url, headers: {}, body: 'x', secretHeaders: [] });

const wrong = [
  ...[...WRONG_URLS, ...METADATA_URLS, ...WRONG_NAMES].map((url) => ({ url, sender: careful })),
  ...METADATA_URLS.map((url) => ({ url, sender: lax })),
];
const refused = await Promise.all(
  wrong.map(async ({ url, sender }) => ({ url, ...(await sendBy(sender, url)) })),
);
const reachedByRefused = reached;
const notRefused = refused
  .filter(({ accepted, status, result }) => accepted || status !== null || !/^\S.*\.$/.test(result))
  .map(({ url, result }) => `${url}: ${result}`);

const hooks = (path: string) => `https://hooks.example.com/${path}`;
const hanging = HANGING.map((url) => sendBy(careful, url));
const began = performance.now();
const beside = await sendBy(careful, hooks(''));
const besideHangingMs = beside.accepted ? performance.now() - began : Number.POSITIVE_INFINITY;
const hung = await Promise.all(hanging);
const { result: redirect } = await sendBy(careful, hooks('redirect'));

// From now on, only the first answer to each process is public.
await careful.stop();
const fresh = open(false);
rebinding.on = true;
const again = [await sendBy(fresh, hooks('1')), await sendBy(fresh, hooks('2'))];
const rebound = again.map(({ result }) => result);
const reachedByCareful = reached;
const { result: allowed } = await sendBy(lax, 'http://10.0.0.5/');
await Promise.all([fresh.stop(), lax.stop()]);

const result: SsrfResult = {
  cases: wrong.length + hung.length,
  notRefused: [...notRefused, ...hung.filter(({ accepted }) => accepted).map(({ result }) => result)],
  reached: Math.max(reachedByRefused, reachedByCareful),
  rebound,
  redirect,
  besideHangingMs,
  allowed,
  slowestMs: Math.max(...[...refused, ...hung].map(({ milliseconds }) => milliseconds)),
};
process.stdout.write(JSON.stringify(result), () => process.exit());
