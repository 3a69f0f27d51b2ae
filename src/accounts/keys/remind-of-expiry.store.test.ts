import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addTo } from '../../notifications/dispatch/dispatcher-fixture.ts';
import { openPool } from '../../store/connect.ts';
import { remindOfExpiry } from './remind-of-expiry.ts';

let store: TestStore;
let owner: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 2 });
});

afterAll(async () => {
  await owner.end();
  await store.stop();
});

/** A key created `life` days before its end, which is `left` days ahead. */
async function addKey(
  accountId: number,
  name: string,
  life: number,
  left: number,
  more = '',
): Promise<number> {
  const { rows } = await store.writer.query<{ id: number }>(
    `insert into api_key (account_id, name, hash, last_four, created_at, expires_at)
     values ($1, $2, sha256(gen_random_uuid()::text::bytea), 'x123', now() - make_interval(days => $3::integer - $4::integer),
             now() + make_interval(days => $4::integer, mins => -5))
     returning api_key_id as id`,
    [accountId, name, life, left],
  );
  const id = rows[0]?.id ?? 0;
  if (more !== '') await store.writer.query(`update api_key set ${more} where api_key_id = $1`, [id]);
  return id;
}

async function remind(): Promise<void> {
  for await (const _ of remindOfExpiry(owner));
}

async function reminded(accountId: number): Promise<string[]> {
  const { rows } = await store.writer.query<{ name: string }>(
    `select properties ->> 'name' as name from activity
      where account_id = $1 and action_type = 'api_key_expiring' order by id`,
    [accountId],
  );
  return rows.map(({ name }) => name);
}

const pass = (days: number) =>
  store.writer.query(
    `update api_key set expires_at = expires_at - make_interval(days => $1), created_at = created_at - make_interval(days => $1)`,
    [days],
  );

test('each key that expires soon is said twice: in its last 14 days or last quarter, and on its last day', async () => {
  const accountId = await store.account();
  await addKey(accountId, 'year', 365, 14);
  await addKey(accountId, 'month', 28, 7);
  await addKey(accountId, 'later', 365, 16);
  await addKey(accountId, 'month, later', 28, 8);
  await addKey(accountId, 'short', 6, 1);
  await addKey(accountId, 'replaced', 365, 3, 'replaced_by = 1');
  await addKey(accountId, 'revoked', 365, 3, 'revoked_at = now()');
  await addKey(accountId, 'never', 365, 3, 'expires_at = null');
  await remind();
  expect((await reminded(accountId)).toSorted()).toEqual(['month', 'year']);
  await remind();
  expect(await reminded(accountId)).toHaveLength(2);
  await pass(2);
  await remind();
  expect((await reminded(accountId)).slice(2).toSorted()).toEqual(['later', 'month, later']);
  await pass(5);
  await remind();
  expect((await reminded(accountId)).slice(4)).toEqual(['month, later']);
  // Nobody ran the service on the last days of `year` and `month`.
  await pass(8);
  await remind();
  await remind();
  expect((await reminded(accountId)).slice(5)).toEqual(['later']);
});

test('of processes that remind at once, one does, and a key that was not seen before gets one reminder on its last day', async () => {
  const accountId = await store.account();
  await addKey(accountId, 'forgotten', 30, 1);
  await Promise.all([remind(), remind(), remind()]);
  expect(await reminded(accountId)).toEqual(['forgotten']);
  await remind();
  expect(await reminded(accountId)).toEqual(['forgotten']);
});

test('an event goes to the destinations that chose it, and to no other account', async () => {
  const [accountId, other] = [await store.account(), await store.account()];
  const url = 'https://receiver.example/hook';
  const chosen = await addTo(store, accountId, {
    name: 'Keys',
    channel: 'webhook',
    url,
    kinds: ['api_key.expiring'],
  });
  await addTo(store, accountId, { name: 'Usual', channel: 'webhook', url });
  await addTo(store, other, { name: 'Other', channel: 'webhook', url, kinds: ['api_key.expiring'] });
  await store.writer.query(`update account set plan = 'team' where account_id = $1`, [accountId]);
  const id = await addKey(accountId, 'Grafana', 365, 10);
  await remind();
  const { rows } = await store.writer.query<{ account_id: number; destination_id: number; body: string }>(
    `select d.account_id, d.destination_id, e.body from delivery d join event e using (account_id, event_id)
      where e.kind = 'api_key.expiring'`,
  );
  expect(rows.map(({ body, ...row }) => row)).toEqual([{ account_id: accountId, destination_id: chosen }]);
  expect(JSON.parse(rows[0]?.body ?? '')).toMatchObject({
    event: 'api_key.expiring',
    data: { api_key_id: id, name: 'Grafana', last_four: 'x123', last_used_at: null },
  });
});
