import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openBrowser } from '../contract/browser.ts';
import { runJson, type Service, startService, temporaryFolder } from '../contract/running-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Bouncer, PASSWORD, startBouncer } from './bouncer.ts';

// A real PgBouncer is driven into waiting: the pulse sees it, a run finds it, a message says so, and another that it is over.

interface Event {
  event: string;
  data: Record<string, unknown>;
}

const host = decodeURIComponent(new URL(inject('sharedStore')['DATABASE_URL'] ?? '').hostname);
const folder = temporaryFolder();
const environment = {
  DBVITALS_DATA_DIR: join(folder.path, 'data'),
  DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
  DBVITALS_ALLOW_PRIVATE_TARGETS: 'yes',
  DBVITALS_PULSE: 'yes',
};
const received: Event[] = [];
const receiver = http.createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.once('end', () => {
    received.push(JSON.parse(Buffer.concat(parts).toString()));
    response.writeHead(204).end();
  });
});

let bouncer: Bouncer;
let service: Service;

beforeAll(async () => {
  bouncer = await startBouncer(host, join(folder.path, 'bouncer'), (documented) =>
    documented.replace(
      '[databases]',
      `[databases]\nshop = host=${host} port=5432 dbname=dbvitals pool_size=1`,
    ),
  );
  service = await startService(environment);
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await service?.stop();
  await bouncer?.stop();
  receiver.close();
  folder.remove();
});

async function open(): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: bouncer.port,
    user: 'dbvitals',
    password: PASSWORD,
    database: 'shop',
  });
  await client.connect();
  return client;
}

/** The event of a kind about a check, within the time that a person is promised. */
async function arrives(kind: string, title: RegExp, seconds: number): Promise<Event> {
  const began = performance.now();
  const found = await waitFor(
    () => {
      const event = received.find((each) => each.event === kind && title.test(String(each.data['title'])));
      if (!event) throw new Error(`No ${kind} in ${JSON.stringify(received)}`);
      return event;
    },
    { timeout: seconds * 1_000, interval: 200 },
  );
  console.log(`${kind} arrived after ${Math.round((performance.now() - began) / 100) / 10} s`);
  return found;
}

test('a PgBouncer that lets clients wait is told within seconds, and so is its end', async () => {
  const account = ['--account', '1'];
  const { id: member } = await runJson<{ id: number }>(
    ['member', 'add', ...account, '--name', 'Ada', '--email', 'ada@example.com', '--role', 'owner'],
    environment,
  );
  const { link } = await runJson<{ link: string }>(
    ['member', 'link', ...account, '--member', String(member)],
    environment,
  );
  const browser = openBrowser({ origin: service.origin });
  await browser.change('POST', `/link/${link.split('/').at(-1)}`, {
    password: 'a long and quiet pass phrase',
  });
  const { port } = receiver.address() as AddressInfo;
  await browser.change('POST', '/destinations', {
    name: 'Pager',
    channel: 'webhook',
    url: `http://127.0.0.1:${port}/hook`,
    kinds: ['ops.ticket_created', 'ops.ticket_resolved'],
  });
  const url = `pgbouncer://dbvitals:${PASSWORD}@127.0.0.1:${bouncer.port}`;
  const { id } = await runJson<{ id: number }>(
    [
      ...['connection', 'add', ...account, '--name', 'shop-pooler', '--url', url, '--tls', 'disable'],
      ...['--every', '1h', '--pulse', '1s', '--threshold', 'PB_CLIENTS_WAITING.warning_seconds=2'],
      ...['--threshold', 'PB_CLIENTS_WAITING.critical_seconds=4'],
    ],
    environment,
  );
  const first = await runJson<{ score: number }>(['check', 'run', '--connection', String(id)], environment);
  expect(first.score).toBe(100);

  const [holder, waiter] = [await open(), await open()] as const;
  await holder.query('begin');
  const waiting = waiter.query('select 1');
  const created = await arrives('ops.ticket_created', /Clients wait/, 60);
  expect(created.data).toMatchObject({ connection_id: id, check_id: 'PB_CLIENTS_WAITING' });
  await holder.query('commit');
  await waiting;
  const resolved = await arrives('ops.ticket_resolved', /Clients wait/, 150);
  expect(resolved.data['ticket_id']).toBe(created.data['ticket_id']);
  await Promise.all([holder.end(), waiter.end()]);
}, 300_000);
