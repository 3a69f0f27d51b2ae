import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { fillAccount, makeKeylessAccount } from './account.ts';
import { type SignedIn, signInAs } from './browser.ts';
import { commandJson } from './command.ts';
import { freePort } from './free-port.ts';
import { type Service, startService } from './running-service.ts';

let service: Service;
let metrics: string;

const start = (settings: Record<string, string> = {}) =>
  startService({ ...inject('sharedStore'), ...settings }, ['--no-monitor']);

beforeAll(async () => {
  const port = String(await freePort());
  metrics = `http://127.0.0.1:${port}/metrics`;
  service = await start({ METRICS_PORT: port });
});

afterAll(async () => {
  await service.stop();
});

/** An answer that comes bit by bit. */
interface Stream {
  /** What came so far. */
  text(): string;
  /** Resolves once that matches. */
  says(pattern: RegExp): Promise<void>;
  /** Goes on to take what comes, after {@link openSlowly}. */
  resume(): void;
  /** Goes away, as a browser does whose page is closed. */
  leave(): void;
  /** Resolves to whether it came to its own end, rather than being cut off. */
  ended: Promise<boolean>;
}

const open = (of: Service, member: SignedIn, path: string) => openStream(of, member, path, () => {});

/** Takes the first bytes, and no more until it is resumed. */
const openSlowly = (of: Service, member: SignedIn, path: string) =>
  openStream(of, member, path, (answer) => answer.once('data', () => answer.pause()));

function openStream(
  { origin }: Service,
  member: SignedIn,
  path: string,
  begin: (answer: http.IncomingMessage) => unknown,
): Promise<Stream> {
  const headers = { cookie: member.cookie() ?? '' };
  return new Promise((resolve, reject) => {
    const request = http.get(`${origin}/console/api${path}`, { agent: false, headers }, (answer) => {
      expect(answer.statusCode).toBe(200);
      let text = '';
      answer.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      begin(answer);
      answer.once('error', () => {}); // told by `complete`
      resolve({
        text: () => text,
        says: (pattern) => expect.poll(() => text).toMatch(pattern),
        resume: () => answer.resume(),
        leave: () => request.destroy(),
        ended: new Promise((end) => answer.once('close', () => end(answer.complete))),
      });
    });
    request.once('error', reject);
  });
}

/** A database that takes connections and says nothing until it is let go. */
async function silentDatabase() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on('error', () => {}).resume()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `postgres://watcher@127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/shop`,
    isAsked: () => sockets.size > 0,
    letGo() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A member with a check under way of a database that does not answer. */
async function checkSilence(of: Service) {
  const operator = await signInAs(await makeKeylessAccount(), ['operator'], of);
  const database = await silentDatabase();
  const wanted = { name: 'silent', url: database.url, tls: 'disable' };
  const { id } = await operator.change<{ id: number }>('POST', '/connections', wanted);
  expect((await operator.ask('POST', `/connections/${id}/run`)).status).toBe(202);
  const stream = await open(of, operator, `/connections/${id}/run`);
  await expect.poll(() => database.isAsked()).toBe(true);
  return { database, stream };
}

/** Someone who may read a log whose export is more than all buffers on the way hold. */
async function longLog(of: Service): Promise<{ account: number; auditor: SignedIn; entries: number }> {
  const account = await makeKeylessAccount();
  const entries = 60_000;
  await fillAccount(account, { connections: 1, tickets: 1, activity: entries, days: 10 });
  return { account, auditor: await signInAs(account, ['auditor'], of), entries };
}

const linesOf = (stream: Stream) => stream.text().split('\n').length - 1;

test('the progress of a check is told while it runs', async () => {
  const { database, stream } = await checkSilence(service);
  await stream.says(/^data: \{"state":"(waiting|running)"/);
  expect(stream.text()).not.toContain('"done"');
  database.letGo();
  await stream.says(/\n\ndata: \{.*"score":0,.*"state":"done"\}\n\n$/);
  expect(await stream.ended).toBe(true);
});

test('a server is watched live by several members on one session, until the last one leaves or is suspended', async () => {
  const account = await makeKeylessAccount();
  const [owner, viewer] = [
    await signInAs(account, ['owner'], service),
    await signInAs(account, ['viewer'], service),
  ];
  const client = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
  await client.connect();
  onTestFinished(async () => {
    await client.query('drop role watched_live').catch(() => {});
    await client.end();
  });
  await client.query(`create role watched_live login password 'unspoken-live'`);
  const url = new URL(inject('sharedStore')['DATABASE_URL'] ?? '');
  Object.assign(url, { username: 'watched_live', password: 'unspoken-live' });
  const add = ['connection', 'add', '--account', String(account), '--name', 'store', '--url', url.href];
  const { id } = await commandJson<{ id: number }>(add);
  const path = `/connections/${id}/live`;
  const [first, second] = [await open(service, owner, path), await open(service, viewer, path)];
  const read =
    /data: \{"reading":\{"at":.*"connections_used":\d+.*"sessions":\[.*"reason":null,"ends":false\}\n\n/;
  await first.says(read);
  await second.says(read);
  const sessions = async () => {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where usename = 'watched_live'`,
    );
    return rows[0]?.count;
  };
  expect(await sessions()).toBe(1);
  const { data } = await owner.get<{ data: { id: number; version: string }[] }>('/members');
  const { version } = data.find((member) => member.id === viewer.memberId) ?? {};
  await owner.change('PATCH', `/members/${viewer.memberId}`, { version, status: 'suspended' });
  expect(await second.ended).toBe(false);
  first.leave();
  await expect.poll(sessions).toBe(0);
  const stranger = await signInAs(await makeKeylessAccount(), ['owner'], service);
  expect((await stranger.ask('GET', path)).status).toBe(404);
});

test('a server that does not answer says so while it is watched', async () => {
  const operator = await signInAs(await makeKeylessAccount(), ['operator'], service);
  const database = await silentDatabase();
  onTestFinished(() => database.letGo());
  const wanted = { name: 'silent', url: database.url, tls: 'disable' };
  const { id } = await operator.change<{ id: number }>('POST', '/connections', wanted);
  const stream = await open(service, operator, `/connections/${id}/live`);
  await stream.says(/^data: \{"reading":null,"reason":".+","ends":false\}\n\n/);
  stream.leave();
});

test('an export comes as it is read, and no further than it is taken', async () => {
  const { auditor, entries } = await longLog(service);
  const stream = await openSlowly(service, auditor, '/activity/export');
  await stream.says(/^\{"id":1,.*\n/);
  const began = linesOf(stream);
  expect(began).toBeLessThan(entries / 2);
  await wait(300);
  expect(linesOf(stream)).toBe(began);
});

test('an export is cut off when its member is suspended', async () => {
  const { account, auditor, entries } = await longLog(service);
  const stream = await openSlowly(service, auditor, '/activity/export');
  await stream.says(/^\{"id":1,.*\n/);
  const owner = await signInAs(account, ['owner'], service);
  const { data } = await owner.get<{ data: { id: number; version: string }[] }>('/members');
  const { version } = data.find(({ id }) => id === auditor.memberId) ?? {};
  await owner.change('PATCH', `/members/${auditor.memberId}`, { version, status: 'suspended' });
  stream.resume();
  expect(await stream.ended).toBe(false);
  expect(linesOf(stream)).toBeLessThan(entries);
});

test('requests of the console are counted by route and status, wherever they came in', async () => {
  const viewer = await signInAs(await makeKeylessAccount(), ['viewer'], service);
  const counted = async (line: string) => {
    const text = await (await fetch(metrics)).text();
    const [, count = '0'] = new RegExp(`^${line.replace(/[{}]/g, '\\$&')} (\\d+)$`, 'm').exec(text) ?? [];
    return Number(count);
  };
  const wanted = [
    'dbvitals_console_answers_total{method="GET",route="/console/api/fleet",status="200"}',
    'dbvitals_console_answers_total{method="POST",route="/console/api/keys",status="403"}',
    'dbvitals_console_answers_total{method="GET",route="unknown",status="404"}',
    'dbvitals_console_request_duration_seconds_count{method="GET",route="/console/api/fleet"}',
  ];
  const before = await Promise.all(wanted.map(counted));
  for (let time = 0; time < 10; time += 1) await viewer.get('/fleet');
  await viewer.ask('POST', '/keys', { name: 'x', expires_in: null });
  await viewer.ask('GET', `/${randomBytes(4).toString('hex')}`);
  const added = async () =>
    (await Promise.all(wanted.map(counted))).map((now, at) => now - (before[at] ?? 0));
  await expect.poll(added).toEqual([10, 1, 1, 10]);
});

test('a service that stops ends the streams it serves, and cuts an export off', async () => {
  const ending = await start();
  onTestFinished(() => void ending.stop('SIGKILL')); // of one that did not end by itself
  const { database, stream: progress } = await checkSilence(ending);
  const { auditor, entries } = await longLog(ending);
  const exported = await openSlowly(ending, auditor, '/activity/export');
  await exported.says(/^\{"id":1,.*\n/);
  await progress.says(/^data: /);
  const told = Date.now();
  expect(await ending.stop()).toBe(0);
  expect(Date.now() - told).toBeLessThan(30_000);
  expect(await progress.ended).toBe(true);
  // It must not look whole.
  expect(await exported.ended).toBe(false);
  expect(linesOf(exported)).toBeLessThan(entries);
  expect(ending.output()).not.toContain('"level":50');
  database.letGo();
});

test('at a Unix socket the service would log in as its own user, so a member adds, changes and tests none', async () => {
  const account = await makeKeylessAccount();
  const operator = await signInAs(account, ['operator'], service);
  const socket = { engine: 'postgres', host: '/run/postgresql', username: 'postgres' };
  const refused = async (method: string, path: string, body: object) => {
    const answer = await operator.ask(method, path, body);
    expect([answer.status, answer.json()], `${method} ${path}`).toMatchObject([
      400,
      { error: { parameter: /"url"/.test(JSON.stringify(body)) ? 'url' : 'host' } },
    ]);
    expect(answer.text).toContain('DBVITALS_ALLOW_CONSOLE_SOCKETS');
  };
  for (const url of [
    'postgres://postgres@/postgres?host=/run/postgresql',
    'mysql://root@/?socket=/run/my.sock',
  ]) {
    await refused('POST', '/connections', { name: 'own', url });
    await refused('POST', '/connections/test', { url });
  }
  await refused('POST', '/connections', { name: 'own', address: socket });
  await refused('POST', '/connections/test', { address: { ...socket, engine: 'mariadb' } });

  interface Settings {
    id: number;
    version: number;
    name: string;
  }
  const direct = { name: 'shop', url: 'postgres://watcher@db.example.com/shop' };
  const { id, version } = await operator.change<Settings>('POST', '/connections', direct);
  await refused('PATCH', `/connections/${id}`, { version, address: socket });
  await refused('POST', `/connections/${id}/test`, { version, address: socket });

  // One that the operator of the service added keeps its place, its database and its user.
  const add = ['connection', 'add', '--account', String(account), '--name', 'own', '--url'];
  const own = await commandJson<Settings>([...add, 'postgres://watcher@/shop?host=/run/postgresql']);
  const place = { ...socket, username: 'watcher', database: 'shop' };
  const path = `/connections/${own.id}`;
  for (const other of [{ username: 'postgres' }, { database: 'postgres' }, { host: '/tmp' }, { port: 5433 }])
    await refused('PATCH', path, { version: 1, address: { ...place, ...other } });
  const { settings } = await operator.get<{ settings: Settings }>(path);
  const given = { version: settings.version, name: 'store', address: place, password: 'unspoken-socket' };
  expect(await operator.change('PATCH', path, given)).toMatchObject({ name: 'store', has_password: true });
});
