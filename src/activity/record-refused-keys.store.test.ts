import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { type RefusedKey, RefusedKeys } from './record-refused-keys.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const errors: object[] = [];
const log = { error: (details: object) => errors.push(details) };

async function revokedKey(): Promise<RefusedKey> {
  const accountId = await store.account();
  const { rows } = await store.writer.query<{ id: number }>(
    `insert into api_key (account_id, name, hash, last_four, created_at, revoked_at)
     values ($1, 'leaked', sha256(gen_random_uuid()::text::bytea), 'x123', now(), now())
     returning api_key_id as id`,
    [accountId],
  );
  const apiKeyId = rows[0]?.id ?? 0;
  return { accountId, apiKeyId, byAddress: false };
}

async function recorded(accountId: number): Promise<{ source_ip: string | null; attempts: number }[]> {
  const { rows } = await store.writer.query<{ properties: { source_ip: string | null; attempts: number } }>(
    `select properties from activity where account_id = $1 and action_type = 'api_key_refused' order by id`,
    [accountId],
  );
  return rows.map(({ properties: { source_ip, attempts } }) => ({ source_ip, attempts }));
}

const attemptsOf = (entries: { attempts: number }[]) =>
  entries.reduce((sum, { attempts }) => sum + attempts, 0);

test('services that share a store write one entry per interval for a key and an address, and count every attempt', async () => {
  const key = await revokedKey();
  const services = [new RefusedKeys(store.writer, log, 2), new RefusedKeys(store.writer, log, 2)];
  for (let attempt = 0; attempt < 500; attempt += 1)
    for (const service of services) service.note(key, '203.0.113.9');
  await expect.poll(async () => attemptsOf(await recorded(key.accountId))).toBe(1_000);
  const { rows } = await store.writer.query<{ gap: number }>(
    `select extract(epoch from occurred_at - lag(occurred_at) over (order by id))::float8 as gap
       from activity where account_id = $1 and action_type = 'api_key_refused'`,
    [key.accountId],
  );
  for (const { gap } of rows.slice(1)) expect(gap).toBeGreaterThanOrEqual(2);
  await Promise.all(services.map((service) => service.close()));
  expect(errors).toEqual([]);
});

test('what services counted is recorded when they stop, also within the minute of an entry', async () => {
  const key = await revokedKey();
  const services = [new RefusedKeys(store.writer, log), new RefusedKeys(store.writer, log)];
  for (const service of services) service.note(key, '203.0.113.9');
  await expect.poll(async () => (await recorded(key.accountId)).length).toBeGreaterThan(0);
  for (let attempt = 0; attempt < 5; attempt += 1)
    for (const service of services) service.note(key, '203.0.113.9');
  await Promise.all(services.map((service) => service.close()));
  expect(attemptsOf(await recorded(key.accountId))).toBe(12);
  expect(errors).toEqual([]);
});

test('what a killed service had stored is recorded at the next start', async () => {
  const key = await revokedKey();
  const killed = new RefusedKeys(store.writer, log);
  const stored = async () => {
    const { rows } = await store.writer.query<{ attempts: number }>(
      'select attempts from refused_key where account_id = $1',
      [key.accountId],
    );
    return rows[0]?.attempts;
  };
  killed.note(key, '203.0.113.9');
  await expect.poll(() => recorded(key.accountId)).toHaveLength(1);
  for (let attempt = 0; attempt < 11; attempt += 1) killed.note(key, '203.0.113.9');
  await expect.poll(stored).toBe(11);
  expect(await recorded(key.accountId)).toHaveLength(1);
  const next = new RefusedKeys(store.writer, log);
  await next.recordLeft();
  expect(attemptsOf(await recorded(key.accountId))).toBe(12);
  expect(await stored()).toBe(0);
  await Promise.all([next.close(), killed.close()]);
});

test('a key tried from many addresses, and an account with many such keys, fill neither log nor memory', async () => {
  const key = await revokedKey();
  const refused = new RefusedKeys(store.writer, log);
  const from = (at: number) => `203.0.${at >> 8}.${at & 255}`;
  for (let at = 0; at < 5_000; at += 1) refused.note(key, from(at));
  await expect.poll(async () => attemptsOf(await recorded(key.accountId))).toBe(5_000);
  const entries = await recorded(key.accountId);
  expect(entries).toHaveLength(21);
  expect(entries.filter(({ source_ip }) => source_ip === null)).toEqual([
    { source_ip: null, attempts: 4_980 },
  ]);

  // One account's attempts don't keep another account's from being recorded.
  for (let apiKeyId = 1; apiKeyId < 20_000; apiKeyId += 1) refused.note({ ...key, apiKeyId }, from(apiKeyId));
  const other = await revokedKey();
  refused.note(other, '203.0.113.9');
  await expect.poll(() => recorded(other.accountId)).toEqual([{ source_ip: '203.0.113.9', attempts: 1 }]);
  await refused.close();
});

test('attempts of accounts that left the cell make room for others', async () => {
  const key = await revokedKey();
  const refused = new RefusedKeys(store.writer, log);
  for (let at = 1; at <= 200; at += 1) refused.note({ ...key, accountId: 2 ** 44 + at }, '203.0.113.9');
  const noted = async () => {
    refused.note(key, '203.0.113.9');
    return (await recorded(key.accountId)).length;
  };
  await expect.poll(noted).toBe(1);
  await refused.close();
  expect(errors).toEqual([]);
});

test('requests do not wait for a locked log, and recording waits only briefly', async () => {
  const key = await revokedKey();
  const refused = new RefusedKeys(store.writer, log, 1);
  const holder = await store.superuser('store');
  await holder.query('begin');
  await holder.query('select from activity_head where account_id = $1 for update', [key.accountId]);
  refused.note(key, '203.0.113.9');
  await expect.poll(() => errors.length).toBe(1);
  await holder.query('rollback');
  await holder.end();
  await expect.poll(() => recorded(key.accountId)).toEqual([{ source_ip: '203.0.113.9', attempts: 1 }]);
  await refused.close();
});
