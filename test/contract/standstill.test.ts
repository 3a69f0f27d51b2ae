import http from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import {
  embeddedUrl,
  runJson,
  type Service,
  startProcess,
  startService,
  temporaryFolder,
} from './running-service.ts';

// The shop's story: bob changes a row and goes to lunch. Thresholds are lowered, so that nobody has to wait for it.

interface Episode {
  role: string;
  ended_at: string | null;
  most_sessions: number;
  trees: { waits: unknown[] }[];
}

const folder = temporaryFolder();
const environment = {
  DBVITALS_DATA_DIR: folder.path,
  DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
  DBVITALS_PULSE: 'yes',
};
const messages: string[] = [];
const receiver = http.createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text;
  });
  request.once('end', () => {
    messages.push(body);
    response.writeHead(200).end('ok');
  });
});
const clients: pg.Client[] = [];
let service: Service;

async function connect(settings: Partial<pg.ClientConfig> = {}): Promise<pg.Client> {
  const url = new URL(embeddedUrl(folder.path)['DATABASE_URL'] ?? '');
  const client = new pg.Client(
    settings.user === undefined
      ? { connectionString: url.href }
      : {
          host: decodeURIComponent(url.hostname),
          port: Number(url.port || 5432),
          database: url.pathname.slice(1),
          ...settings,
        },
  );
  client.on('error', () => {});
  await client.connect();
  clients.push(client);
  return client;
}

beforeAll(async () => {
  service = await startService(environment);
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hooks/1`;
  const chat = ['--account', '1', '--name', 'Chat', '--channel', 'mattermost', '--url-stdin'];
  expect(await startProcess(['destination', 'add', ...chat], environment, `${url}\n`).ended).toBe(0);
  const thresholds = ['warning_seconds=2', 'critical_seconds=3'].flatMap((value) => [
    '--threshold',
    `PG_BLOCKED_SESSIONS.${value}`,
  ]);
  await runJson(['connection', 'change', '1', '--pulse', '1s', ...thresholds], environment);
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await service?.stop();
  receiver.close();
  folder.remove();
});

/** All texts of a message. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const every = { interval: 200 };

const says = (pattern: RegExp) =>
  waitFor(
    () =>
      expect(
        messages.find((message) => pattern.test(message)),
        messages.join('\n'),
      ).toBeDefined(),
    every,
  );

test('a forgotten transaction is told with its name and its victims, ended by the printed statement, and told again', async () => {
  const root = await connect();
  await root.query(`create role bob login password 'unspoken-bob'; create schema shop;
    create table shop.orders (id int primary key, paid boolean); insert into shop.orders values (1, false);
    grant usage on schema shop to bob; grant select, update on shop.orders to bob`);
  const bob = await connect({ user: 'bob', password: 'unspoken-bob', application_name: 'psql' });
  await bob.query('begin; update shop.orders set paid = true where id = 1');
  const victims = await Promise.all([connect(), connect(), connect()]);
  const waits = victims.map((victim) => victim.query('update shop.orders set paid = true where id = 1'));
  const began = performance.now();

  await says(/bob\/psql, idle in transaction, have blocked 3 sessions for/s);
  expect((performance.now() - began) / 1_000).toBeLessThan(3 + 20); // the promise: the threshold and 20 s
  const now = await runJson<{ blocking: { root: { role: string }; waits: unknown[] }[] }>(
    ['top', '--connection', '1', '--json'],
    environment,
  );
  expect(now.blocking).toMatchObject([{ root: { role: 'bob' }, waits: [{}, {}, {}] }]);
  const told = textsIn(JSON.parse(messages.find((message) => message.includes('bob/psql')) ?? '""')).join(
    '\n',
  );
  const [statement = ''] = /SELECT pg_terminate_backend\(pid\) FROM .*?;/s.exec(told) ?? [];
  expect(statement, told).toMatch(/'bob'/);
  await root.query('grant bob to dbvitals_owner');
  await root.query(statement);
  await Promise.all(waits);
  const ended = performance.now();
  await says(/resolved/i);
  expect((performance.now() - ended) / 1_000).toBeLessThan(60);

  const episodes = await waitFor(async () => {
    const found = await runJson<Episode[]>(['episodes', 'list', '--connection', '1'], environment);
    expect(found[0]?.ended_at).not.toBeNull();
    return found;
  }, every);
  expect(episodes).toMatchObject([{ role: 'bob', most_sessions: 3 }]);
  expect(episodes[0]?.trees.at(-1)?.waits).toHaveLength(3);
});
