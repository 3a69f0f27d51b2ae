import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount, makeKey } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { type Answer, ask, each, read } from './ask.ts';
import { command } from './command.ts';
import { freePort } from './free-port.ts';
import { startLoad } from './load.ts';
import type { Fleet } from './records.ts';
import { type Process, startProcess, startService, temporaryFolder } from './running-service.ts';

const FLEET = '/api/v1/health/fleet';
const PROCESSES = ['--no-monitor', '--processes', '3'];

const service = start();

afterAll(async () => {
  await (await service).stop();
});

async function start() {
  const metricsPort = await freePort();
  const settings = {
    ...inject('sharedStore'),
    LOG_LEVEL: 'debug', // a line for each step of a request: at info a flood of 401 is only counted
    METRICS_PORT: String(metricsPort),
    // Behind a trusted proxy, so that what is refused spends the budget of an address of this file alone.
    DBVITALS_TRUST_PROXY: '127.0.0.1',
  };
  const started = await startService(settings, PROCESSES);
  return { ...started, metrics: `http://127.0.0.1:${metricsPort}/metrics` };
}

/** Asks on a connection of its own, which any of the processes may get. */
async function askAnew(key?: string, address = '203.0.113.30'): Promise<Answer> {
  const { origin } = await service;
  return ask(FLEET, { origin, key, alone: true, headers: { 'x-forwarded-for': address } });
}

/** The processes that said in the log what matches, in the order in which they did first. */
function processesThatSaid(what: string, { output }: Pick<Process, 'output'>): number[] {
  const lines = output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.includes(what) && line.endsWith('}'));
  return [...new Set(lines.map((line) => Number(JSON.parse(line).pid)))];
}

/** The processes that gave the answers, as their log tells. */
async function processesOf(answers: Answer[]): Promise<Set<number>> {
  const { says, output } = await service;
  for (const { headers } of answers) await says(new RegExp(`${headers['x-request-id']}.*\\n`), 5);
  const pids = new Map(
    output()
      .split('\n')
      .filter((line) => line.includes('"request_id"'))
      .map((line) => JSON.parse(line))
      .map(({ request_id, pid }) => [request_id, Number(pid)]),
  );
  return new Set(answers.map(({ headers }) => pids.get(headers['x-request-id']) ?? 0));
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function allEnd(pids: number[], seconds: number): Promise<void> {
  for (const deadline = Date.now() + seconds * 1_000; pids.some(runs); await wait(50)) {
    if (Date.now() > deadline) throw new Error(`${pids.filter(runs)} still run after ${seconds} s`);
  }
}

/** All answers that the service says it gave. */
async function answersCounted(): Promise<number> {
  const text = await (await fetch((await service).metrics)).text();
  const counts = [...text.matchAll(/^dbvitals_answers_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

test('one limit holds over three processes: 300 at once with a limit of 100, exactly 100 admitted', async () => {
  const { key } = await makeAccount({ requestsPerMinute: 100 });
  const answers = await Promise.all(Array.from({ length: 300 }, () => askAnew(key)));
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([...Array(100).fill(200), ...Array(200).fill(429)]);
  const admitted = answers.filter(({ status }) => status === 200);
  const remaining = admitted.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
  expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  expect((await processesOf(answers)).size).toBe(3);
});

test('one log over three processes and two keys: gapless, in time order, every answer in it once', async () => {
  const { id, key } = await makeAccount();
  const other = await makeKey(id, 'other');
  const turns = Array.from({ length: 600 }, (_, turn) => turn);
  const answers = await each(turns, 48, (turn) => askAnew(turn % 3 ? key : other.key));
  expect((await processesOf(answers)).size).toBe(3);
  const log = await readLog(key);
  expect(log.map((entry) => entry.id)).toEqual(log.map((_, at) => at + 1));
  const times = log.map(({ occurred_at }) => occurred_at);
  expect(times).toEqual(times.toSorted());
  const requests = byRequestId(log);
  for (const { headers } of answers) expect(requests.has(headers['x-request-id'])).toBe(true);
});

test('revoke under load: no request that starts after the revoke has returned is accepted by any process', async () => {
  const { id } = await makeAccount();
  const { id: keyId, key } = await makeKey(id, 'leaked');
  const seen: { started: number; answer: Answer }[] = [];
  let returned = Number.POSITIVE_INFINITY;
  const loops = Array.from({ length: 8 }, async () => {
    for (let after = 0; after < 8; ) {
      const started = performance.now();
      const answer = await askAnew(key, '203.0.113.31');
      seen.push({ started, answer });
      if (started > returned) after += 1;
      // Refusals spend the address's budget, which is to last until the loops end.
      if (answer.status === 401) await wait(60);
    }
  });
  const { exit } = await command(['key', 'revoke', String(keyId)]);
  returned = performance.now();
  await Promise.all(loops);
  expect(exit).toBe(0);
  const after = seen.filter(({ started }) => started > returned).map(({ answer }) => answer);
  expect(after.filter(({ status }) => status !== 401)).toEqual([]);
  expect((await processesOf(after)).size).toBe(3);
  const accepted = seen.map(({ answer }) => answer).filter(({ status }) => status === 200);
  expect((await processesOf(accepted)).size).toBe(3);
});

test('an address has one budget of failed authentications: 300 in all processes together', async () => {
  const answers = await each(Array.from({ length: 420 }), 32, () => askAnew(undefined, '203.0.113.32'));
  expect((await processesOf(answers)).size).toBe(3);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(300);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(120);
  expect(new Set(answers.map(({ headers }) => headers['x-ratelimit-limit']))).toEqual(new Set(['300']));
  const [first] = await each([0, 1], 1, () => askAnew(undefined, '203.0.113.33'));
  expect(first?.headers['x-ratelimit-remaining']).toBe('299');
  expect((await askAnew(undefined, '203.0.113.33')).headers['x-ratelimit-remaining']).toBe('297');
  const { key } = await makeAccount();
  expect((await askAnew(key, '203.0.113.32')).status).toBe(200);
});

test('/metrics sums up what all processes counted', async () => {
  const { key } = await makeAccount();
  const before = await answersCounted();
  const answers = await each(Array.from({ length: 40 }), 8, () => askAnew(key));
  expect((await processesOf(answers)).size).toBeGreaterThan(1);
  expect(await answersCounted()).toBe(before + 40);
});

test('a process that is killed is started anew, the others go on, and nothing counted is lost', async () => {
  const { key } = await makeAccount();
  const { says, output } = await service;
  const counted = await answersCounted();
  const [killed = 0] = processesThatSaid('Server listening', { output });
  process.kill(killed, 'SIGKILL');
  await says(/an API worker ended/, 5);
  const meanwhile = await each(Array.from({ length: 40 }), 8, () => askAnew(key));
  expect(meanwhile.filter(({ status }) => status !== 200)).toEqual([]);
  await expect
    .poll(() => processesThatSaid('Server listening', { output }).length, { timeout: 10_000 })
    .toBe(4);
  const answers = await each(Array.from({ length: 60 }), 8, () => askAnew(key));
  const pids = await processesOf(answers);
  expect(pids.size).toBe(3);
  expect(pids.has(killed)).toBe(false);
  expect(await answersCounted()).toBe(counted + 100);
});

test('a port that such a service has is taken for another one too', async () => {
  const { origin } = await service;
  const args = ['serve', '--no-monitor', '--processes', '2', '--port', new URL(origin).port];
  const { exit, stderr } = await command(args, { environment: inject('sharedStore') });
  expect(stderr).toMatch(/^(?:\{[^\n]*\}\n)*error: Port \d+ is taken[^\n]*\n$/);
  expect(exit).toBe(1);
});

test('Ctrl-C, which all processes hear, under load: whatever was recorded was answered, and all end within 10 s', async () => {
  const { key } = await makeAccount();
  const ending = await startService({ ...inject('sharedStore'), LOG_LEVEL: 'info' }, PROCESSES);
  const processes = processesThatSaid('Server listening', ending);
  expect(processes).toHaveLength(3);
  const load = startLoad(key, 16, () => ending.origin);
  await expect.poll(() => load.answers.length, { timeout: 20_000 }).toBeGreaterThan(100);
  const told = Date.now();
  for (const pid of processes) process.kill(pid, 'SIGINT');
  expect(await ending.stop('SIGINT')).toBe(0);
  expect(Date.now() - told).toBeLessThan(10_000);
  expect(processes.filter(runs)).toEqual([]);
  await load.stop();
  await expectAllAnswered(key, load.answers);
});

test('kill -9 of the process above leaves none behind: they drain and end', async () => {
  const { key } = await makeAccount();
  const ending = await startService({ ...inject('sharedStore'), LOG_LEVEL: 'info' }, PROCESSES);
  const processes = processesThatSaid('Server listening', ending);
  expect(processes).toHaveLength(3);
  const load = startLoad(key, 16, () => ending.origin);
  await expect.poll(() => load.answers.length, { timeout: 20_000 }).toBeGreaterThan(100);
  process.kill(ending.pid, 'SIGKILL');
  await allEnd(processes, 10);
  await load.stop();
  await expectAllAnswered(key, load.answers);
});

async function expectAllAnswered(key: string, answers: Answer[]): Promise<void> {
  const answered = new Set(answers.map(({ headers }) => headers['x-request-id']));
  const dropped = [...byRequestId(await readLog(key)).values()].filter(
    ({ page_path, properties }) => page_path === FLEET && !answered.has(String(properties['request_id'])),
  );
  expect(dropped).toEqual([]);
  expect(answers.length).toBeGreaterThan(100);
}

test('on an embedded store: more processes than it has connections for are refused; PostgreSQL is left last', {
  timeout: 90_000,
}, async () => {
  const folder = temporaryFolder();
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'data'), PORT: '0', LOG_LEVEL: 'info' };
  const pidFile = join(folder.path, 'data', 'postgres', 'postmaster.pid');
  const refused = startProcess(['serve', '--processes', '64'], environment);
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toMatch(
    /^error: The store has 97 connections and 64 processes need \d+: [^\n]*$/m,
  );
  expect(existsSync(pidFile)).toBe(false);

  const first = await startService(environment, ['--processes', '2']);
  const [, key = ''] = await first.says(/API key +(dbv_live_\w{49})/);
  const { summary } = await read<Fleet>(FLEET, key, { origin: first.origin });
  expect(summary).toMatchObject({ total: 1, never_run: 0 });
  const processes = processesThatSaid('Server listening', first);
  expect(processes).toHaveLength(2);
  expect(await first.stop('SIGTERM')).toBe(0);
  expect(processes.filter(runs)).toEqual([]);
  expect(existsSync(pidFile)).toBe(false);
  folder.remove();
});
