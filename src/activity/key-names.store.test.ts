import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { entries } from '../api/endpoints/entries.ts';
import { openPool } from '../store/connect.ts';
import { readOnce } from '../store/exchange/read-once.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
});

afterAll(async () => {
  await reader?.end();
  await store?.stop();
});

/** The names of keys on a page of the account's log. */
async function namesOf(accountId: number): Promise<unknown[]> {
  const request = { accountId, query: { per_page: 100 }, id: '', url: 'http://a/api/v1/activity' };
  const { result } = await readOnce(reader, accountId, async (read) => entries.answer(read, request), false);
  return result.body.data.map(({ properties }) => properties['api_key_name']);
}

/** Adds a key and a request with it, or with the key of another account. */
async function addRequest(accountId: number, id: number, name: string, key?: number): Promise<number> {
  const { rows } = await store.writer.query<{ api_key_id: number }>(
    `insert into api_key (account_id, name, hash, last_four, created_at)
     values ($1, $2, sha256(random()::text::bytea), 'last', now()) returning api_key_id`,
    [accountId, name],
  );
  const own = rows[0]?.api_key_id ?? 0;
  await store.writer.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, request_id, api_key_id, status, method, source_ip)
     values ($1, $2, now(), 'api_request', '/api/v1/activity', gen_random_uuid(), $3, 200, 'GET', '192.0.2.7')`,
    [accountId, id, key ?? own],
  );
  await store.writer.query('update activity_head set last_id = $2, last_at = now() where account_id = $1', [
    accountId,
    id,
  ]);
  return own;
}

test('a page shows the present names of its own account’s keys', async () => {
  const [own, other] = [await store.account(), await store.account()];
  const key = await addRequest(own, 1, 'first');
  expect(await namesOf(own)).toEqual(['first']);
  await addRequest(own, 2, 'second');
  expect(await namesOf(own)).toEqual(['second', 'first']);
  await store.writer.query(`update api_key set name = 'renamed' where account_id = $1 and api_key_id = $2`, [
    own,
    key,
  ]);
  expect(await namesOf(own)).toEqual(['second', 'renamed']);
  await addRequest(other, 1, 'unused', key);
  expect(await namesOf(other)).toEqual([null]);
  expect(await namesOf(own)).toEqual(['second', 'renamed']);
});
