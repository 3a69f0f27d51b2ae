import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { NewKey } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { type Answer, ask, each, read } from './ask.ts';
import { command, commandJson } from './command.ts';
import { freePort } from './free-port.ts';
import { type Load, startLoad } from './load.ts';
import { sendRawOnce } from './raw.ts';
import type { Fleet } from './records.ts';
import { embeddedUrl, type Service, startProcess, startService, temporaryFolder } from './running-service.ts';

// The embedded store's life, in this order: first start, second start, kills, end. All on one data folder.
const FLEET = '/api/v1/health/fleet';
const folder = temporaryFolder();
const dataFolder = join(folder.path, 'a data folder');
const publicUrl = 'https://dbvitals.example.com';
const metrics = `http://127.0.0.1:${await freePort()}`;
const environment = {
  DBVITALS_DATA_DIR: dataFolder,
  DBVITALS_PUBLIC_URL: publicUrl,
  METRICS_PORT: new URL(metrics).port,
};
let service: Service;
let firstKey = '';
let busyKey = '';

beforeAll(async () => {
  service = await startService(environment);
  [, firstKey = ''] = await service.says(/API key +(dbv_live_\w{49})/);
});

afterAll(async () => {
  await service.stop();
  folder.remove();
});

/** The process id of the embedded PostgreSQL, null when it does not run. */
function postmaster(): number | null {
  const file = join(dataFolder, 'postgres', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : null;
}

function familyOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = rows.map((row) => row.trim().split(/ +/).map(Number));
  return [pid, ...pairs.flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))];
}

const until = (what: string, holds: () => Promise<boolean>) =>
  expect.poll(holds, { message: what, interval: 100 }).toBe(true);

test('the first start prints where it is, what it made, the key, and a request to paste', async () => {
  await service.says(/curl .*\n/);
  const port = new URL(service.origin).port;
  expect(service.output()).toContain(`dbvitals is ready on http://127.0.0.1:${port}\n`);
  expect(service.output()).toMatch(/^ {2}store {8}embedded PostgreSQL \d+\.\d+ in .*a data folder.*$/m);
  expect(service.output()).toMatch(/^ {2}account {6}1 My company \(enterprise\)$/m);
  expect(service.output()).toMatch(
    /^ {2}connection {3}1 dbvitals store: score \d+, (healthy|warning|critical)$/m,
  );
  expect(service.output()).toContain(`  API key      ${firstKey} (shown once)\n`);
  expect(service.output()).toContain(
    `\n  curl -H "Authorization: Bearer ${firstKey}" ${service.origin}${FLEET}`,
  );
  expect(service.output()).not.toContain('\u001b');
});

test('HTTP/1.0 without a Host gets links below the public URL', async () => {
  const lines = ['GET /api/v1/health/connections HTTP/1.0', `Authorization: Bearer ${firstKey}`, '', ''];
  const { headers } = await sendRawOnce(lines.join('\r\n'), { origin: service.origin });
  expect(headers['link']).toMatch(new RegExp(`^<${publicUrl}/api/v1/health/connections\\?`));
});

test('sign-in links use the public URL where it is set', async () => {
  const link = (name: string) => new RegExp(`^ *${name} +${publicUrl}/link/[\\w-]{43}`, 'm');
  expect(service.output()).toMatch(link('sign in'));
  const made = await command(['member', 'link', '--account', '1'], { environment });
  expect(made.stdout).toMatch(link('link'));
  // The command need not know how the service was started.
  const { DBVITALS_PUBLIC_URL: _, ...others } = environment;
  const elsewhere = await command(['member', 'link', '--account', '1'], {
    environment: { ...others, PORT: '1' },
  });
  expect(elsewhere.stdout).toMatch(link('link'));
});

test('every answer has HSTS where the public URL is https', async () => {
  const authorization = `Bearer ${firstKey}`;
  const malformed = `GET / HTTP/1.1\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`;
  const of = async (origin: string) => {
    const answers = [
      await fetch(origin + FLEET, { headers: { authorization } }),
      await fetch(origin + FLEET),
      await fetch(origin + FLEET, { method: 'OPTIONS' }),
      await fetch(`${origin}/api/v1/nothing`, { headers: { authorization } }),
      await fetch(`${origin}/`, { headers: { accept: 'text/html' } }),
      ...(await each(['/console/api/sign-in', '/console/api/me', '/docs', '/livez', '/nothing'], 5, (path) =>
        fetch(origin + path),
      )),
    ];
    await Promise.all(answers.map((answer) => answer.arrayBuffer()));
    const headers = answers.map((answer) => answer.headers.get('strict-transport-security') ?? undefined);
    return [...headers, (await sendRawOnce(malformed, { origin })).headers['strict-transport-security']];
  };
  const [secure, plain] = [await of(service.origin), await of(inject('origin'))];
  expect(secure).toEqual(secure.map(() => 'max-age=31536000'));
  expect(plain).toEqual(plain.map(() => undefined));
});

test('the printed key opens the fleet, whose one connection has been checked', async () => {
  const { data, summary } = await read<Fleet>(FLEET, firstKey, { origin: service.origin });
  expect(data).toEqual([
    { id: 1, name: 'dbvitals store', score: expect.any(Number), status: expect.any(String) },
  ]);
  expect(service.output()).toContain(`score ${data[0]?.score}, ${data[0]?.status}`);
  expect(summary).toMatchObject({ total: 1, never_run: 0 });
});

test('secrets in the data folder are readable by their owner only', () => {
  expect(statSync(join(dataFolder, 'secret.key')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataFolder, 'postgres', 'dbvitals.json')).mode & 0o777).toBe(0o600);
  expect(statSync(join(dataFolder, 'postgres')).mode & 0o077).toBe(0);
  const settings = readdirSync(join(dataFolder, 'postgres')).includes('pg_hba.conf');
  expect(settings).toBe(true);
  const rules = readFileSync(join(dataFolder, 'postgres', 'pg_hba.conf'), 'utf8');
  expect(rules).not.toMatch(/^[^#]*\b(trust|md5|password)\s*$/m);
});

test('a second serve on the data folder is refused in one sentence', async () => {
  const { exit, stderr } = await command(['serve'], {
    environment: { ...environment, PORT: '0' },
    ownProcess: true,
  });
  expect(exit).toBe(1);
  expect(stderr.trim()).toMatch(/^[^\n]*in use by another[^\n]*serve[^\n]*$/);
  await read(FLEET, firstKey, { origin: service.origin });
});

test('an occupied port is named in the error, and nothing is left running', async () => {
  const other = temporaryFolder();
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  const port = String(typeof address === 'object' && address ? address.port : 0);
  const data = join(other.path, 'data');
  const started = startProcess(['serve', '--port', port], { DBVITALS_DATA_DIR: data });
  expect(await started.ended).toBe(1);
  expect(started.output()).toMatch(new RegExp(`port.*${port}|${port}.*port`, 'i'));
  expect(started.output()).not.toMatch(/^ +at /m);
  expect(existsSync(join(data, 'postgres', 'postmaster.pid'))).toBe(false);
  server.close();
  other.remove();
});

test('a later start keeps the key and does not show it; Ctrl-C, twice as npm sends it, ends PostgreSQL too', async () => {
  await Promise.all([service.stop('SIGINT'), service.stop('SIGINT')]);
  expect(await service.stop('SIGTERM')).toBe(0);
  expect(postmaster()).toBeNull();
  service = await startService(environment);
  await service.says(/API key.*\n/);
  expect(service.output()).not.toContain('dbv_live_');
  expect(service.output()).toMatch(/key create/);
  await read(FLEET, firstKey, { origin: service.origin });
});

test('commands join the PostgreSQL of a running serve', async () => {
  await commandJson(['account', 'change', '1', '--requests-per-minute', '100000'], { environment });
  const key = await commandJson<NewKey>(['key', 'create', '--account', '1', '--name', 'busy'], {
    environment,
  });
  busyKey = key.key;
  await read(FLEET, busyKey, { origin: service.origin });
});

test('a connection is checked without being told to, soon after it was added', async () => {
  const options = ['--account', '1', '--name', 'down', '--url', 'postgres://watcher@127.0.0.1:1/shop'];
  const { id } = await commandJson<{ id: number }>(['connection', 'add', ...options], { environment });
  await until('the first check', async () => {
    const { data } = await read<Fleet>(FLEET, busyKey, { origin: service.origin });
    return data.find((entry) => entry.id === id)?.status === 'critical';
  });
});

test('kill -9 of the service under load: the next start adopts what is left, and no entry is lost', async () => {
  const load = startLoad(busyKey, 8, () => service.origin);
  for (const count of [40, 20, 60]) {
    await answered(load, count);
    await service.stop('SIGKILL');
    service = await startService(environment);
  }
  await answered(load, 20);
  await load.stop();
  await expectNothingLost(load.answers);
});

test('kill -9 of PostgreSQL under load: 200 or 500 within 2 s, automatic recovery, and no entry is lost', async () => {
  const before = postmaster();
  if (before === null) throw new Error('PostgreSQL does not run');
  const load = startLoad(busyKey, 8, () => service.origin);
  await answered(load, 40);
  process.kill(before, 'SIGKILL');
  await wait(500);
  await until('a good answer', async () => (await askTimed()).status === 200);
  await answered(load, 40);
  await load.stop();
  expect(load.broken).toBe(0);
  expect(load.answers.filter(({ status }) => status !== 200 && status !== 500)).toEqual([]);
  expect(postmaster()).not.toBe(before);
  await expectNothingLost(load.answers);
});

test('PostgreSQL hangs: 500 in the envelope within 2 s, 503 from /readyz, recovery when it continues', async () => {
  const before = postmaster();
  if (before === null) throw new Error('PostgreSQL does not run');
  const family = familyOf(before);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of family) process.kill(pid, name);
  };
  signal('SIGSTOP');
  let answers: Answer[];
  try {
    answers = await each(Array.from({ length: 40 }), 20, askTimed);
    for (const [url, status] of [
      [`${service.origin}/readyz`, 503],
      [`${metrics}/readyz`, 503],
      [`${metrics}/metrics`, 200],
    ] as const)
      expect((await fetch(url, { signal: AbortSignal.timeout(20_000) })).status, url).toBe(status);
  } finally {
    signal('SIGCONT');
  }
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
  await until('a good answer', async () => (await askTimed()).status === 200);
  await until('ready', async () => (await fetch(`${metrics}/readyz`)).ok);
});

test('a read-only store: /readyz is 503, one log line without a stack, and recovery when it accepts writes', async () => {
  const { superuser } = JSON.parse(readFileSync(join(dataFolder, 'postgres', 'dbvitals.json'), 'utf8'));
  const root = new pg.Client({
    host: join(dataFolder, 'postgres'),
    user: 'postgres',
    password: superuser,
    database: 'postgres',
  });
  await root.connect();
  const ready = async (base: string) => (await fetch(`${base}/readyz`)).status;
  await wait(10_000); // an outage is told unless one was within the last ten seconds, and the test before has one
  const before = service.output().length;
  const [writable, readOnly] = ['off', 'on'].map((value) => async () => {
    await root.query(`alter system set default_transaction_read_only = ${value}`);
    await root.query('select pg_reload_conf()');
  });
  try {
    await readOnly?.();
    await until('a refused request', async () => (await askTimed()).status === 500);
    expect([await ready(service.origin), await ready(metrics)]).toEqual([503, 503]);
    const answers = await each(Array.from({ length: 60 }), 20, askTimed);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
    expect([await ready(service.origin), await ready(metrics)]).toEqual([503, 503]);
  } finally {
    await writable?.();
    await root.end();
  }
  await until('ready', async () => (await ready(service.origin)) === 200);
  expect(await ready(metrics)).toBe(200);
  expect((await askTimed()).status).toBe(200);
  const told = service.output().slice(before);
  expect(told.match(/the store fails: requests are answered 500/g)).toHaveLength(1);
  expect(told).not.toMatch(/request failed|\bat \w+ \(|"stack"/);
});

test('hanging connections to PostgreSQL are replaced, and /readyz recovers', async () => {
  const owner = new pg.Client({ connectionString: embeddedUrl(dataFolder)['DATABASE_URL'] });
  await owner.connect();
  const { rows } = await owner.query<{ pid: number }>(
    `select pid from pg_stat_activity where application_name = 'dbvitals writer'`,
  );
  await owner.end();
  expect(rows).not.toEqual([]);
  for (const { pid } of rows) process.kill(pid, 'SIGSTOP');
  try {
    await until('not ready', async () => !(await fetch(`${metrics}/readyz`)).ok);
    await until('ready', async () => (await fetch(`${metrics}/readyz`)).ok);
  } finally {
    for (const { pid } of rows) process.kill(pid, 'SIGCONT');
  }
});

/** Resolves once the load has so many good answers more. */
async function answered(load: Load, more: number): Promise<void> {
  const good = () => load.answers.filter(({ status }) => status === 200).length;
  await expect.poll(good).toBeGreaterThan(good() + more);
}

async function askTimed(): Promise<Answer> {
  const started = performance.now();
  const answer = await ask(FLEET, { key: busyKey, origin: service.origin });
  expect(performance.now() - started).toBeLessThan(20_000);
  return answer;
}

async function expectNothingLost(answers: Answer[]): Promise<void> {
  const good = answers.filter(({ status }) => status === 200);
  expect(good.length).toBeGreaterThan(50);
  const log = await readLog(busyKey, 0, service.origin);
  expect(log.map(({ id }) => id)).toEqual(log.map((_, at) => at + 1));
  const requests = byRequestId(log);
  expect(good.filter(({ headers }) => !requests.has(headers['x-request-id']))).toHaveLength(0);
}
