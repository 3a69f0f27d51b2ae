import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { type Read, readAs } from '../../store/read.ts';
import { connections } from './connections.ts';
import { fleet } from './fleet.ts';

let store: TestStore;

beforeAll(async () => {
  store = await startTestStore({ autovacuum: 'off' });
});
afterAll(() => store.stop());

const insertConnections = `
  insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
  select $1, n, 'postgres', 'direct', 'h', 1, '', '', 'disable', now() from generate_series(1, 3000) n`;
const insertChecks = `
  insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
  select account_id, connection_id, now(), (connection_id + $2) % 101, repeat('s', 200), '[]'
    from connection where account_id = $1`;
const setLatest = `
  update connection c
     set latest_check_id = (select max(health_check_id) from health_check h
                             where h.account_id = c.account_id and h.connection_id = c.connection_id)
   where account_id = $1 and connection_id % 50 > 0`;

test('a page of connections reads only its own checks, the fleet reads none, and both return the latest score', async () => {
  const accountId = await store.account();
  await store.writer.query(insertConnections, [accountId]);
  for (let run = 0; run < 5; run++) await store.writer.query(insertChecks, [accountId, run]);
  await store.writer.query(setLatest, [accountId]);
  await store.writer.query('update connection set removed_at = now() where connection_id % 7 = 0');
  const root = await store.superuser('store');
  await root.query('vacuum (analyze) connection');

  const reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
  const request = { accountId, id: '', url: 'http://localhost/api/v1/health/connections' };
  const measured = async <T>(
    answer: (read: Read) => Promise<T>,
  ): Promise<{ answer: T; buffers: number[] }> => {
    const asked: [string, unknown[]][] = [];
    const { result } = await readAs(reader, accountId, (read) =>
      answer((statement, values) => {
        asked.push([statement, values]);
        return read(statement, values);
      }),
    );
    const buffers: number[] = [];
    for (const [statement, values] of asked)
      buffers.push(await buffersOf(store, accountId, statement, values));
    return { answer: result, buffers };
  };
  const all = await measured((read) => fleet.answer(read, { ...request, query: {} }));
  const last = await measured((read) =>
    connections.answer(read, { ...request, query: { page: 25, per_page: 100 } }),
  );
  await reader.end();

  const scores = new Map(all.answer.body.data.map(({ id, score }) => [id, score]));
  expect(scores.size).toBe(2_572);
  expect([...scores.values()].filter((score) => score === null)).toHaveLength(52);
  expect(last.answer.body.data).toHaveLength(100);
  for (const { id, score } of last.answer.body.data) expect(score).toBe(scores.get(id));

  const { rows } = await root.query<{ pages: number }>(
    `select pg_relation_size('connection') / 8192 as pages`,
  );
  // Each page of the table, and a few pages of an index.
  expect(Math.max(...all.buffers)).toBeLessThan((rows[0]?.pages ?? 0) + 50);
  // 100 connections and 100 checks with 4 buffers each, plus the index pages of the ids before them.
  expect(Math.max(...last.buffers)).toBeLessThan(850);
});
