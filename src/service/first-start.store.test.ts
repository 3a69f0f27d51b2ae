import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { METRICS, requireFreePort } from '../http/edge/listen.ts';
import type { openStore } from '../store/open.ts';
import { firstStart } from './first-start.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore({ fsync: 'off' });
});
afterAll(() => store.stop());
beforeEach(async () => {
  const root = await store.superuser('store');
  await root.query('truncate account, login cascade');
});

const begin = (check: () => Promise<null> = async () => null) => {
  const open = {
    address: store.address,
    description: '',
    embedded: null,
    applied: [],
    cellId: null,
    close: async () => {},
  } satisfies Awaited<ReturnType<typeof openStore>>;
  return firstStart(open, store.writer, store.deps.secret, check);
};

async function countThings() {
  const { rows } = await store.writer.query(
    `select (select count(*)::int from account) as accounts, (select count(*)::int from connection) as connections,
            (select count(*)::int from api_key where revoked_at is null) as keys, (select count(*)::int from link) as links`,
  );
  return rows[0];
}

test('a first start that ended early goes on, with a key that somebody sees', async () => {
  const full = new Error('No space left on device');
  await expect(begin(() => Promise.reject(full))).rejects.toBe(full);
  expect(await countThings()).toEqual({ accounts: 1, connections: 1, keys: 1, links: 0 });
  const first = await begin();
  expect(first?.key).toMatch(/^dbv_live_/);
  expect(await countThings()).toEqual({ accounts: 1, connections: 1, keys: 1, links: 1 });
  const { rows } = await store.writer.query('select api_key_id as id from api_key where revoked_at is null');
  expect(rows).toEqual([{ id: first?.keyId }]);
  expect(await begin()).toBeNull();
});

test('a store that somebody set up by hand is left alone', async () => {
  await store.account();
  expect(await begin()).toBeNull();
  expect(await countThings()).toMatchObject({ accounts: 1, keys: 0 });
});

test('a port in use is named before anything else starts', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  await expect(requireFreePort('127.0.0.1', port)).rejects.toThrow(
    `Port ${port} is already in use: choose another one with --port or PORT.`,
  );
  await expect(requireFreePort('127.0.0.1', port, METRICS)).rejects.toThrow(
    `Port ${port} is already in use: choose another one with METRICS_PORT.`,
  );
  await expect(requireFreePort('192.0.2.99', 9090, METRICS)).rejects.toThrow(
    'METRICS_HOST is not an address',
  );
  await new Promise((resolve) => other.close(resolve));
  await requireFreePort('127.0.0.1', port);
  await requireFreePort('127.0.0.1', 0);
});
