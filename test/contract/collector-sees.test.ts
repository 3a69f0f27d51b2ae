import { writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startProxy } from '../faults/proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { commandJson } from './command.ts';
import {
  copyEmptyStore,
  embeddedUrl,
  type Service,
  startProcess,
  startService,
  temporaryFolder,
} from './running-service.ts';

// What a collector sees becomes a message: a blocked session, an own check, and its own silence.

interface Told {
  event: string;
  data: Record<string, unknown>;
  at: number;
}

const NAMES = ['shop', 'orders', 'stock'];
const folder = temporaryFolder();
const site = temporaryFolder();
const environment = { DBVITALS_DATA_DIR: folder.path, DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };
const told: Told[] = [];
const receiver = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  told.push({ ...JSON.parse(body), at: Date.now() });
  response.writeHead(204).end();
});

/** Keeps the store, so that either service can stop. */
let keeper: ReturnType<typeof startProcess>;
let service: Service;
/** A service that was started later on the same store. */
let relief: Service;
/** The address by which the collector knows the service. */
let balancer: Awaited<ReturnType<typeof startProxy>>;
let account: string;
let collector: ReturnType<typeof startProcess>;
let store: pg.Client;
let shop: number;

const json = <T>(args: string[], input?: string) =>
  commandJson<T>(args, { environment, ...(input !== undefined && { input }) });
const serve = () => startService({ ...environment, ...embeddedUrl(folder.path) }, ['--no-monitor']);
const readPort = ({ origin }: Service) => Number(new URL(origin).port);
const messages = (event: string) => told.filter((one) => one.event === event);

beforeAll(async () => {
  copyEmptyStore(environment);
  keeper = startProcess(['monitor'], environment);
  await waitFor(async () => (await connect()).end(), { interval: 200 });
  service = await serve();
  balancer = await startProxy(readPort(service));
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  store = await connect();
  await store.query('create table stuck (id integer)');
  const made = ['account', 'create', '--name', 'Seen', '--kind', 'company', '--plan', 'enterprise'];
  account = String((await json<{ id: number }>(made)).id);
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const add = ['destination', 'add', '--account', account, '--name', 'Pager', '--channel', 'webhook'];
  await json([...add, '--url-stdin'], url);
  const enrol = ['collector', 'enrol', '--account', account, '--name', 'frankfurt'];
  writeFile('token', (await json<{ token: string }>(enrol)).token);
  for (const name of NAMES) {
    const add = ['connection', 'add', '--account', account, '--name', name, '--collector', 'frankfurt'];
    const { id } = await json<{ id: number }>([...add, '--engine', 'postgres', '--every', '7d']);
    if (name === 'shop') shop = id;
  }
  const lower = ['--threshold', 'PG_BLOCKED_SESSIONS.warning_seconds=5'];
  await json(['connection', 'change', String(shop), ...lower]);
  writeConnections(true);
  collector = start();
  for (const name of NAMES)
    await collector.says(new RegExp(`"connection":"${name}".*health check delivered`));
  // A service tells nothing of collectors in its first 90 s, which pass during the tests.
  relief = await serve();
});

afterAll(async () => {
  await collector?.stop();
  await store?.end();
  await balancer?.close();
  await Promise.all([service?.stop(), relief?.stop()]);
  await keeper?.stop();
  receiver.close();
  folder.remove();
  site.remove();
});

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: embeddedUrl(folder.path)['DATABASE_URL'] });
  client.on('error', () => {}); // the store is stopped at the end
  await client.connect();
  return client;
}

function writeFile(name: string, text: string): string {
  const path = join(site.path, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function writeConnections(own_checks: boolean): void {
  const url = embeddedUrl(folder.path)['DATABASE_URL'];
  const connections = Object.fromEntries(NAMES.map((name) => [name, { url, own_checks }]));
  writeFile('collector.yaml', JSON.stringify({ connections }));
}

function start() {
  const file = (name: string) => join(site.path, name);
  const files = ['--file', file('collector.yaml'), '--token-file', file('token'), '--folder', file('key')];
  return startProcess(
    ['collect', '--url', `http://127.0.0.1:${balancer.port}`, '--name', 'frankfurt', ...files],
    {},
  );
}

test('a session that is blocked is seen by the pulses there, becomes a ticket and a message, and its tree is stored', async () => {
  const [blocker, waiter] = [await connect(), await connect()];
  await blocker.query('begin');
  await blocker.query('lock table stuck');
  const began = Date.now();
  const waiting = waiter.query('select from stuck').catch(() => {}); // its end is no part of the test
  const isMeant = ({ data }: Told) => data['check_id'] === 'PG_BLOCKED_SESSIONS';
  const message = () => told.find((one) => one.event === 'ops.ticket_created' && isMeant(one));
  await expect.poll(message, { timeout: 90_000 }).toBeDefined();
  // Seen with pulses each 10 s and three busy neighbours: 3.1 s after the threshold was crossed.
  expect((message()?.at ?? 0) - began).toBeGreaterThan(5_000);
  // A pulse may be 20 s late, and the way by the collector takes 2 s.
  expect((message()?.at ?? 0) - began).toBeLessThan(27_000);
  expect(message()?.data).toMatchObject({ connection_id: shop, severity: 'warning' });
  const episodes = async () =>
    (
      await store.query(
        'select most_sessions, jsonb_array_length(trees) > 0 as "hasTree" from blocking_episode where connection_id = $1',
        [shop],
      )
    ).rows;
  await expect.poll(episodes).toMatchObject([{ hasTree: true }]);
  await blocker.query('rollback');
  await waiting;
  await Promise.all([blocker.end(), waiter.end()]);
});

test('an own check runs where the file allows it, and is skipped where it does not', async () => {
  const words = ['check', 'own', 'set', '--account', account, '--id', 'STUCK', '--title', 'Rows are stuck'];
  const what = [
    '--engine',
    'postgres',
    '--sql',
    'select count(*) + 7 as value from stuck',
    '--unit',
    'count',
  ];
  await json([...words, ...what, '--operator', '>=', '--warning', '5']);
  const found = async () => {
    const run = ['check', 'run', '--connection', String(shop)];
    const { checks } = await json<{ checks: { check_id: string; status: string; metric_line: string }[] }>(
      run,
    );
    return checks.find(({ check_id }) => check_id === 'OWN_STUCK');
  };
  expect(await found()).toMatchObject({ status: 'warning' });
  writeConnections(false);
  expect(await found()).toMatchObject({
    status: 'skipped',
    metric_line: expect.stringContaining('own_checks'),
  });
});

test('a collector that falls silent is one message for all its connections, also if another service goes on', async () => {
  const stopped = Date.now();
  await collector.stop();
  await expect.poll(() => messages('collector.silent'), { timeout: 150_000, interval: 500 }).toHaveLength(1);
  expect(Date.now() - stopped).toBeGreaterThan(60_000);
  const [silent] = messages('collector.silent');
  expect(silent?.data).toMatchObject({ name: 'frankfurt', connections: NAMES.length });
  await Promise.all([balancer.close(), service.stop()]);
  balancer = await startProxy(readPort(relief), balancer.port);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  collector = start();
  await expect
    .poll(() => messages('collector.returned'), { timeout: 150_000, interval: 500 })
    .toHaveLength(1);
  expect(messages('collector.silent')).toHaveLength(1);
  expect(messages('alert.triggered')).toEqual([]);
}, 360_000);
