import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Key, runOnce } from '../../src/monitor/run-fixture.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { waitFor } from '../support/wait-for.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';

let store: TestStore;
let server: PostgresServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

/** The checks that found a fault, with their objects. */
async function findFaults(key: Key): Promise<string[]> {
  const { checks } = await runOnce(store, key);
  return checks
    .filter(({ status, severity }) => status === severity || status === 'error')
    .map(({ check_id, metric_line }) => `${check_id}: ${metric_line}`)
    .sort();
}

const SHOP = [
  'create table orders (id bigint generated always as identity primary key, customer int not null, note text)',
  'create index orders_customer on orders (customer)',
  "insert into orders (customer, note) select n % 500, repeat('x', 300) from generate_series(1, 60000) n",
  'create table customers (id int primary key, name text)',
  "insert into customers select n, 'Ada' from generate_series(1, 20000) n",
  'vacuum analyze',
  'select count(*) from orders where customer = 7',
  'update orders set note = note where id % 6 = 0',
];

/** As after a power cut: nothing is written, and the statistics are lost. */
async function crash(): Promise<void> {
  const [pid = ''] = readFileSync(join(server.host, 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  await waitFor(() => server.resume()); // once its processes have seen that and ended
}

test('a crash, which loses the statistics, adds no fault and hides none as an error', async () => {
  await server.run(SHOP);
  const key = await store.watched(
    { host: server.host, port: server.port, database: server.database, username: 'watcher' },
    PASSWORD,
  );
  await findFaults(key);
  const before = await findFaults(key);
  await crash();
  const [first, second] = [await findFaults(key), await findFaults(key)];
  const added = [...first, ...second].filter((line) => !before.includes(line));
  expect(added).toEqual([]);
});
