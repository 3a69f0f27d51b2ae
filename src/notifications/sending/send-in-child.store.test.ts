import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { findWorkers, isAlive } from '../../../test/support/process-tree.ts';
import { answering, OK, receivers, requestTo } from './receiver-fixture.ts';
import { type Sender, startSender } from './send-in-child.ts';
import { LIMITS } from './send-limits.ts';

const { receive } = receivers();
const whole = { ...LIMITS };
const senders: Sender[] = [];
afterEach(async () => {
  Object.assign(LIMITS, whole);
  await Promise.all(senders.splice(0).map((sender) => sender.stop()));
});

const SMTP_URL = 'smtp://ada:hunter2@localhost:1';

function start(): { sender: Sender; log: string[] } {
  const log: string[] = [];
  const settings = { allowPrivate: true, smtpUrl: SMTP_URL, mailFrom: 'a@example.com' };
  const sender = startSender({ ...settings, log: pino({}, { write: (line) => log.push(line) }) });
  senders.push(sender);
  return { sender, log };
}

/** The ids of the sending processes of a process. */
const findSenders = (parent: number) => findWorkers(parent, 'send-worker');

function child(): number {
  const [pid, ...others] = findSenders(process.pid);
  expect(others).toEqual([]);
  expect(pid).toBeDefined();
  return pid ?? 0;
}

test('one child sends many requests at once, and has no secret of the service', async () => {
  process.env['DATABASE_URL'] = 'postgres://u:hunter3@db/store';
  process.env['DBVITALS_SECRET_KEY'] = 'ab'.repeat(32);
  process.env['HTTPS_PROXY'] = 'http://127.0.0.1:9';
  process.env['HTTP_PROXY'] = 'http://127.0.0.1:9';
  process.env['NODE_USE_ENV_PROXY'] = '1';
  try {
    const { port } = await receive(answering(OK));
    const { sender, log } = start();
    expect(findSenders(process.pid)).toEqual([]); // nothing to send yet
    const sent = await Promise.all(
      Array.from({ length: 200 }, () => sender.send(requestTo(`http://127.0.0.1:${port}`))),
    );
    expect(sent.filter(({ accepted }) => !accepted)).toEqual([]);
    const pid = child();
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
    const names = environment.map((each) => each.split('=')[0] ?? '');
    expect(
      names.filter(
        (name) =>
          !/^(PATH|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|UV_THREADPOOL_SIZE|RES_OPTIONS|NODE_CHANNEL_\w+)$/.test(
            name,
          ),
      ),
    ).toEqual([]);
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toMatch(/hunter/);
    expect(log).toEqual([]);
  } finally {
    for (const name of [
      'DATABASE_URL',
      'DBVITALS_SECRET_KEY',
      'HTTPS_PROXY',
      'HTTP_PROXY',
      'NODE_USE_ENV_PROXY',
    ])
      delete process.env[name];
  }
});

test('its memory stays flat with endless answers', async () => {
  const { sender } = start();
  const small = await receive(answering(OK));
  const flood = await receive((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const chunk = Buffer.alloc(65_536, 'x');
      const pour = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on('drain', pour);
      pour();
    }),
  );
  const resident = () =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child()}/status`, 'utf8'))?.[1]) / 1_024;
  const round = (port: number) =>
    Promise.all(Array.from({ length: 50 }, () => sender.send(requestTo(`http://127.0.0.1:${port}`))));
  await round(small.port);
  const before = resident();
  for (let rounds = 0; rounds < 10; rounds++)
    expect((await round(flood.port)).every(({ accepted }) => accepted)).toBe(true);
  expect(resident() - before).toBeLessThan(48);
});

test('it outlives 60 receivers that hang with large bodies', async () => {
  const silent = await receive((socket) => socket.resume());
  const { sender, log } = start();
  // In a heap each of these would take 1.4 MB.
  const body = '…'.repeat(700_000);
  const held = Array.from({ length: 60 }, () =>
    sender.send(requestTo(`http://127.0.0.1:${silent.port}`, { body })),
  );
  while (silent.connections < 60) await wait(20);
  const { port } = await receive(answering(OK));
  expect(await sender.send(requestTo(`http://127.0.0.1:${port}`))).toMatchObject({ accepted: true });
  expect(log).toEqual([]);
  process.kill(child(), 'SIGKILL');
  await Promise.all(held);
});

test('a child that is killed fails its requests with a sentence, and the next one sends again', async () => {
  const silent = await receive((socket) => socket.resume());
  const { port } = await receive(answering(OK));
  const { sender, log } = start();
  const secret = 'https://hooks.example.com/secret';
  const lost = sender.send(requestTo(`http://127.0.0.1:${silent.port}`, { body: secret }));
  while (silent.connections === 0) await wait(10);
  process.kill(child(), 'SIGKILL');
  expect(await lost).toMatchObject({
    status: null,
    accepted: false,
    result: 'The sending process ended during this request.',
  });
  expect(await sender.send(requestTo(`http://127.0.0.1:${port}`))).toMatchObject({ accepted: true });
  expect(log).toEqual([
    expect.stringMatching(/"signal":"SIGKILL","requests":1,"msg":"the process that sends/),
  ]);
  expect(log.join()).not.toMatch(/hunter2|secret/);
});

test('a child that keeps dying is started less and less often', async () => {
  const silent = await receive((socket) => socket.resume());
  const { sender } = start();
  const times: number[] = [];
  for (let deaths = 1; deaths <= 4; deaths++) {
    const before = silent.connections;
    const lost = sender.send(requestTo(`http://127.0.0.1:${silent.port}`));
    while (silent.connections === before) await wait(5);
    times.push(performance.now());
    process.kill(child(), 'SIGKILL');
    await lost;
  }
  const pauses = times.slice(1).map((time, place) => time - (times[place] ?? 0));
  for (const [place, least] of [250, 500, 1_000].entries()) expect(pauses[place]).toBeGreaterThan(least);
});

test('a child that hangs is killed', async () => {
  const { port } = await receive(answering(OK));
  const { sender } = start();
  expect(await sender.send(requestTo(`http://127.0.0.1:${port}`))).toMatchObject({ accepted: true });
  Object.assign(LIMITS, { wholeMs: 200, bodyMs: 0, hangMs: 100 });
  process.kill(child(), 'SIGSTOP');
  expect(await sender.send(requestTo(`http://127.0.0.1:${port}`))).toMatchObject({
    accepted: false,
    result: 'The sending process did not answer.',
  });
  Object.assign(LIMITS, whole);
  expect(await sender.send(requestTo(`http://127.0.0.1:${port}`))).toMatchObject({ accepted: true });
});

test('stopping lets a request finish, but not for ever', async () => {
  let answer: Socket | null = null;
  const slow = await receive((socket) =>
    socket.once('data', () => {
      answer = socket;
    }),
  );
  const { sender } = start();
  const finishing = sender.send(requestTo(`http://127.0.0.1:${slow.port}`));
  while (answer === null) await wait(10);
  const stopped = sender.stop();
  expect(await sender.send(requestTo('http://127.0.0.1:1'))).toMatchObject({
    result: 'dbvitals is stopping.',
  });
  (answer as Socket).write(OK);
  expect(await finishing).toMatchObject({ accepted: true });
  await stopped;
  expect(findSenders(process.pid)).toEqual([]);

  Object.assign(LIMITS, { graceMs: 100 });
  const other = start().sender;
  const cut = other.send(requestTo(`http://127.0.0.1:${slow.port}`));
  while (slow.connections < 2) await wait(10);
  await other.stop();
  expect(await cut).toMatchObject({ accepted: false, result: 'dbvitals stopped before the answer came.' });
  expect(findSenders(process.pid)).toEqual([]);
});

const PROGRAM = `
  import { startSender } from ${JSON.stringify(new URL('send-in-child.ts', import.meta.url).href)};
  const log = { warn() {} };
  const sender = startSender({ allowPrivate: true, smtpUrl: null, mailFrom: null, log });
  const request = { protocol: 'http', method: 'GET', url: process.argv[1], headers: {}, body: '', secretHeaders: [] };
  console.log((await sender.send(request)).result);`;

test('an idle child does not keep its parent alive, and ends with it', async () => {
  const { port } = await receive(answering(OK));
  const run = (url: string) =>
    spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const idle = run(`http://127.0.0.1:${port}`);
  let printed = '';
  idle.stdout.on('data', (data) => {
    printed += data;
  });
  expect(await once(idle, 'close')).toEqual([0, null]);
  expect(printed).toBe('200 OK\n');

  const silent = await receive((socket) => socket.resume());
  const killed = run(`http://127.0.0.1:${silent.port}`);
  while (silent.connections === 0) await wait(10);
  const [pid = 0] = findSenders(killed.pid ?? 0);
  expect(pid).toBeGreaterThan(0);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  while (isAlive(pid)) await wait(10);
});

test('a message without a mail server, and a wrong server, get a sentence', async () => {
  const message = { to: 'bob@example.com', subject: 's', text: 't', html: '<p>t</p>', headers: {} };
  const { sender } = start();
  expect(await sender.send({ protocol: 'smtp', messages: [message] })).toMatchObject({
    accepted: false,
    result: 'The SMTP server refused the connection (ECONNREFUSED): nothing listens on that port.',
  });
  const none = startSender({
    allowPrivate: true,
    smtpUrl: null,
    mailFrom: null,
    log: pino({ level: 'silent' }),
  });
  senders.push(none);
  expect(await none.send({ protocol: 'smtp', messages: [message] })).toMatchObject({
    result: 'E-mail is not set up: set DBVITALS_SMTP_URL.',
  });
});
