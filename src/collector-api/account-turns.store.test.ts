import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { issueToken } from '../accounts/collectors/issue-token.ts';
import { changeAccount } from '../activity/record-entry.ts';
import { FailedAuthentications } from '../http/failed-authentications.ts';
import { openPool } from '../store/connect.ts';
import { CollectorApi } from './collector-api.ts';

const VERSION = '1.0.0';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

/** The requests of collectors, on a pool of as many connections as a service has. */
async function serve() {
  const writer = openPool(store.address, 'writer', { max: 6, statementTimeout: 10_000 });
  const api = new CollectorApi({
    writerOf: async () => writer,
    secret: store.deps.secret,
    allowPrivateTargets: true,
    basePath: '',
    version: VERSION,
    failures: new FailedAuthentications(),
    log: store.deps.log as never,
  });
  const server = createServer((request, response) => {
    request.headers['dbvitals-caller'] = JSON.stringify({ address: '192.0.2.7' });
    api.handle(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    async enrol(token: string): Promise<number> {
      const public_key = Buffer.alloc(32, 7).toString('base64');
      const body = JSON.stringify({ token, name: 'frankfurt', public_key, version: VERSION });
      return (await fetch(`http://127.0.0.1:${port}/collector/enrol`, { method: 'POST', body })).status;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await writer.end();
    },
  };
}

async function newToken(): Promise<{ accountId: number; token: string }> {
  const accountId = await store.account();
  const { token } = await changeAccount(store.writer, accountId, (change) => issueToken(change, 'frankfurt'));
  return { accountId, token };
}

test('while the log of one account hangs, its collectors delay those of no other account', async () => {
  const [greedy, modest] = [await newToken(), await newToken()];
  const lock = await store.superuser('store');
  const { enrol, stop } = await serve();
  try {
    await lock.query('begin');
    await lock.query('select from activity_head where account_id = $1 for update', [greedy.accountId]);
    const flood = Array.from({ length: 12 }, () => enrol(greedy.token));
    await expect.poll(waiting).toBe(1);
    expect(await enrol(modest.token)).toBe(200);
    expect(await waiting()).toBe(1); // the others wait for their turn without a connection
    await lock.query('rollback');
    const statuses = await Promise.all(flood);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  } finally {
    await lock.end();
    await stop();
  }
});

const selectWaiting = `
  select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

async function waiting(): Promise<number> {
  const client = await store.superuser('store');
  try {
    return (await client.query<{ waiting: number }>(selectWaiting)).rows[0]?.waiting ?? 0;
  } finally {
    await client.end();
  }
}
