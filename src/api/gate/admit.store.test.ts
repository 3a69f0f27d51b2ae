import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { Gate } from './admit.ts';
import {
  addAccount,
  addKey,
  batchesOfOneKey,
  changesOfAnswers,
  generationOf,
  logOf,
  request,
} from './applicants-fixture.ts';
import { Expired } from './gate-errors.ts';
import type { Applicant } from './key-batch.ts';

let store: TestStore;
let gates: [Gate, Gate];

beforeAll(async () => {
  store = await startTestStore();
  gates = [new Gate(store.address), new Gate(store.address)];
});

afterAll(async () => {
  await Promise.all(gates.map((gate) => gate.close()));
  await store.stop();
});

const account = (limit: number, plan?: string) => addAccount(store, limit, plan);
const key = (accountId: number) => addKey(store, accountId);
const log = (accountId: number) => logOf(store, accountId);

test('two gates together admit exactly the limit, and the log has no gaps and is strictly ordered', async () => {
  const accountId = await account(37);
  const keys = [await key(accountId), await key(accountId)];
  const verdicts = await Promise.all(
    Array.from({ length: 400 }, (_, n) =>
      gates[n % 2 === 0 ? 0 : 1].admit(request(accountId, keys[n % 4 < 2 ? 0 : 1] ?? 0)),
    ),
  );
  expect(verdicts.filter(({ verdict }) => verdict === 'admitted')).toHaveLength(2 * 37);
  expect(verdicts.filter(({ verdict }) => verdict === 'limited')).toHaveLength(400 - 2 * 37);
  const remaining = verdicts
    .filter(({ verdict }) => verdict === 'admitted')
    .map((verdict) => verdict.remaining);
  expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 74 }, (_, n) => Math.floor(n / 2)));
  const rows = await log(accountId);
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 400 }, (_, n) => n + 1));
  expect(rows.filter(({ status }) => status === 429)).toHaveLength(400 - 74);
  for (const [n, row] of rows.entries()) {
    if (n > 0) expect(row.at > (rows[n - 1]?.at ?? '')).toBe(true);
  }
});

test('gates that admit requests of the same accounts in opposite orders do not deadlock', async () => {
  const accounts = await Promise.all(Array.from({ length: 8 }, () => account(100_000)));
  const pairs = await Promise.all(
    accounts.map(async (accountId) => [accountId, await key(accountId)] as const),
  );
  for (let round = 0; round < 20; round += 1) {
    const there = gates.flatMap((gate, side) =>
      (side === 0 ? pairs : pairs.toReversed()).map(([accountId, keyId]) =>
        gate.admit(request(accountId, keyId)),
      ),
    );
    expect((await Promise.all(there)).every(({ verdict }) => verdict === 'admitted')).toBe(true);
  }
});

test('a window ends 60 s after its first request and the next starts with the first request after it', async () => {
  const accountId = await account(2);
  const keyId = await key(accountId);
  const ask = () => gates[0].admit(request(accountId, keyId));
  const first = await ask();
  expect(first).toMatchObject({ verdict: 'admitted', limit: 2, remaining: 1 });
  expect(first.endsAt - first.now).toBeCloseTo(60, 5);
  await ask();
  const third = await ask();
  expect(third).toMatchObject({ verdict: 'limited', remaining: 0, endsAt: first.endsAt });
  await store.writer.query(
    `update key_window set started_at = started_at - interval '59.5 s' where account_id = $1`,
    [accountId],
  );
  expect((await ask()).verdict).toBe('limited');
  await store.writer.query(
    `update key_window set started_at = started_at - interval '0.5 s' where account_id = $1`,
    [accountId],
  );
  const later = await ask();
  expect(later).toMatchObject({ verdict: 'admitted', remaining: 1 });
  expect(later.endsAt - later.now).toBeCloseTo(60, 5);
});

test('after the clock was set back, the window ends within 60 s, with the same count', async () => {
  const accountId = await account(2);
  const keyId = await key(accountId);
  const ask = () => gates[0].admit(request(accountId, keyId));
  await ask();
  // The clock was an hour ahead.
  await store.writer.query(
    `update key_window set started_at = now() + interval '1 h' where account_id = $1`,
    [accountId],
  );
  const second = await ask();
  expect(second).toMatchObject({ verdict: 'admitted', remaining: 0 });
  expect(second.endsAt - second.now).toBeCloseTo(60, 5);
  const third = await gates[1].admit(request(accountId, keyId, { prepared: false }));
  expect(third).toMatchObject({ verdict: 'limited', endsAt: second.endsAt });
});

test('each batch has milliseconds of its own in the log of its account', async () => {
  const accountId = await account(100);
  const keyId = await key(accountId);
  // As if the last entry were a moment ahead: the next ones can't use the rest of its millisecond.
  const last = '2999-01-01 00:00:00.123456+00';
  await store.writer.query('update activity_head set last_at = $2 where account_id = $1', [accountId, last]);
  await Promise.all([1, 2].map(() => gates[0].admit(request(accountId, keyId))));
  await gates[1].admit(request(accountId, keyId));
  const { rows } = await store.writer.query<{ at: string }>(
    `select to_char(occurred_at, 'MI:SS.US') as at from activity where account_id = $1 order by id`,
    [accountId],
  );
  expect(rows.map(({ at }) => at)).toEqual(['00:00.124000', '00:00.124001', '00:00.125000']);
});

test('a changed limit applies to the current window', async () => {
  const accountId = await account(5);
  const keyId = await key(accountId);
  const ask = () => gates[0].admit(request(accountId, keyId));
  for (let n = 0; n < 3; n += 1) await ask();
  const limit = (requests: number) =>
    store.writer.query('update account set requests_per_minute = $2 where account_id = $1', [
      accountId,
      requests,
    ]);
  await limit(2);
  expect(await ask()).toMatchObject({ verdict: 'limited', limit: 2, remaining: 0 });
  await limit(4);
  expect(await ask()).toMatchObject({ verdict: 'admitted', limit: 4, remaining: 0 });
  expect(await ask()).toMatchObject({ verdict: 'limited' });
});

test('a plan without API access is recorded, never limited', async () => {
  const accountId = await account(100, 'individual');
  const keyId = await key(accountId);
  for (let n = 0; n < 3; n += 1) {
    const verdict = await gates[0].admit(request(accountId, keyId, { plan: 'individual' }, { status: 403 }));
    expect(verdict).toMatchObject({ verdict: 'admitted', limit: 0, remaining: 0 });
    expect(verdict.endsAt - verdict.now).toBeCloseTo(60, 5);
  }
  expect(await log(accountId)).toHaveLength(3);
});

describe('nothing is counted or written', () => {
  test('for a key that was revoked, has expired or never existed', async () => {
    const accountId = await account(100);
    const keyId = await key(accountId);
    const ask = (apiKeyId = keyId) => gates[0].admit(request(accountId, apiKeyId));
    const end = (revoked: boolean) =>
      store.writer.query(
        `update api_key set revoked_at = case when $2 then now() end, expires_at = case when not $2 then now() end
          where api_key_id = $1`,
        [keyId, revoked],
      );
    await end(true);
    expect((await ask()).verdict).toBe('dead');
    await end(false);
    expect((await ask()).verdict).toBe('dead');
    expect((await ask(keyId + 1_000_000)).verdict).toBe('dead');
    expect(await log(accountId)).toEqual([]);
  });

  test('for a cached answer of another generation or another plan', async () => {
    const accountId = await account(100);
    const keyId = await key(accountId);
    const generation = await generationOf(store, accountId);
    const ask = (given: Partial<Applicant>) => gates[0].admit(request(accountId, keyId, given));
    expect(await ask({ generation: generation - 1 })).toMatchObject({ verdict: 'moved', generation });
    expect(await ask({ plan: 'team' })).toMatchObject({ verdict: 'moved', plan: 'enterprise' });
    expect(await log(accountId)).toEqual([]);
    expect(await ask({ generation })).toMatchObject({ verdict: 'admitted', remaining: 99 });
  });

  test('for a request without a prepared answer that is not over the limit after all', async () => {
    const accountId = await account(1);
    const keyId = await key(accountId);
    const ask = (prepared: boolean) => gates[0].admit(request(accountId, keyId, { prepared }));
    expect((await ask(false)).verdict).toBe('moved');
    expect((await ask(true)).verdict).toBe('admitted');
    expect((await ask(false)).verdict).toBe('limited');
    expect(await log(accountId)).toHaveLength(2);
  });
});

describe('requests of one key in one batch', () => {
  const standing = (limit: number) => batchesOfOneKey(store, gates[0], limit);

  test('fresh answers are admitted while cached ones are stale', async () => {
    const { accountId, generation, together, told } = await standing(10);
    const stale = { generation: generation - 1 };
    expect(told(await together(stale, {}, stale, {}, { prepared: false }))).toEqual([
      'moved 0',
      'admitted 9',
      'moved 0',
      'admitted 8',
      'moved 0',
    ]);
    expect((await log(accountId)).map(({ id }) => id)).toEqual([1, 2]);
  });

  test('over the limit all are limited, whatever was prepared', async () => {
    const { accountId, generation, together, told } = await standing(3);
    await together({}, {});
    expect(told(await together({ generation }, {}, { generation }, { prepared: false }))).toEqual([
      'limited 0',
      'admitted 0',
      'limited 0',
      'moved 0',
    ]);
    const stale = { generation: generation - 1 };
    expect(told(await together({ prepared: false }, stale, {}))).toEqual(Array(3).fill('limited 0'));
    expect((await log(accountId)).map(({ status }) => status)).toEqual([
      200,
      200,
      200,
      ...Array(5).fill(429),
    ]);
  });

  test('requests that assume another plan or generation get their own verdicts', async () => {
    const { accountId, generation, together, told } = await standing(10);
    const [team, stale] = [{ plan: 'team' }, { generation: generation - 1 }];
    expect(told(await together(stale, team, { generation }, {}, team, stale))).toEqual([
      'moved 0',
      'moved 0',
      'admitted 8',
      'admitted 9',
      'moved 0',
      'moved 0',
    ]);
    expect(await log(accountId)).toHaveLength(2);
  });

  test('random mixes over keys and accounts are counted and recorded as if sent one at a time', async () => {
    const one = fc.record({ key: fc.nat(5), kind: fc.constantFrom('fresh', 'kept', 'stale', 'unprepared') });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(one, { maxLength: 40 }), { maxLength: 4 }), async (batches) => {
        const accounts = await Promise.all([account(9), account(4)]);
        const keys = await Promise.all([0, 0, 0, 1, 1, 1].map((n) => key(accounts[n] ?? 0)));
        const { rows } = await store.writer.query(
          'select account_id, generation from account where account_id = any($1) order by account_id',
          [accounts],
        );
        const used = keys.map(() => 0);
        const recorded = [0, 0];
        for (const batch of batches) {
          const verdicts = await Promise.all(
            batch.map(({ key, kind }) => {
              const side = key < 3 ? 0 : 1;
              const current: number = rows[side].generation;
              const generation = kind === 'kept' ? current : kind === 'stale' ? current - 1 : null;
              const given = { generation, prepared: kind !== 'unprepared' };
              return gates[0].admit(request(accounts[side] ?? 0, keys[key] ?? 0, given));
            }),
          );
          for (const [key] of keys.entries()) {
            const side = key < 3 ? 0 : 1;
            const limit = side === 0 ? 9 : 4;
            const mine = batch.flatMap((asked, n) => (asked.key === key ? [verdicts[n]] : []));
            const counted = mine.filter((verdict) => verdict?.verdict === 'admitted');
            const left = counted.map((verdict) => verdict?.remaining ?? 0).sort((a, b) => b - a);
            const wanted = batch.filter((asked) => asked.key === key && /fresh|kept/.test(asked.kind)).length;
            const admitted = Math.min(wanted, limit - (used[key] ?? 0));
            expect(left).toEqual(
              Array.from({ length: admitted }, (_, n) => limit - (used[key] ?? 0) - n - 1),
            );
            used[key] = (used[key] ?? 0) + admitted;
            recorded[side] =
              (recorded[side] ?? 0) + mine.filter((verdict) => verdict?.verdict !== 'moved').length;
          }
        }
        for (const [side, accountId] of accounts.entries()) {
          const ids = (await log(accountId)).map(({ id }) => id);
          expect(ids).toEqual(Array.from({ length: recorded[side] ?? 0 }, (_, n) => n + 1));
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('no request of a flood with one key is rejected or left out, and another key is admitted beside it', async () => {
  const [greedy, modest] = [await account(30), await account(100_000)];
  const [keyId, other] = [await key(greedy), await key(modest)];
  const asked = Array.from({ length: 1_700 }, () => gates[0].admit(request(greedy, keyId)));
  const beside = gates[0].admit(request(modest, other));
  const verdicts = (await Promise.all(asked)).map(({ verdict }) => verdict);
  expect(verdicts.filter((verdict) => verdict === 'admitted')).toHaveLength(30);
  expect(verdicts.filter((verdict) => verdict === 'limited')).toHaveLength(1_670);
  expect((await beside).verdict).toBe('admitted');
  expect(await log(greedy)).toHaveLength(1_700);
});

test('an abandoned request is not sent to the store and is rejected as expired', async () => {
  const accountId = await account(100);
  const keyId = await key(accountId);
  const state = { abandoned: false };
  const answered = gates[0].admit(request(accountId, keyId));
  const expired = expect(gates[0].admit(request(accountId, keyId, { state }))).rejects.toThrow(Expired);
  state.abandoned = true;
  await answered;
  await expired;
  await gates[0].admit(request(accountId, keyId));
  expect(await log(accountId)).toHaveLength(2);
});

test('a hanging store fails the batch within two seconds, and is used again once it answers', async () => {
  const accountId = await account(100);
  const keyId = await key(accountId);
  const holder = await store.superuser('store');
  await holder.query('begin');
  await holder.query('lock table activity');
  const started = performance.now();
  await expect(gates[0].admit(request(accountId, keyId))).rejects.toThrow('the batch failed');
  expect(performance.now() - started).toBeLessThan(30_000);
  await holder.query('rollback');
  expect((await gates[0].admit(request(accountId, keyId))).verdict).toBe('admitted');
});

test('every change of data that cached answers show raises the generation', async () => {
  const accountId = await store.account();
  const generation = () => generationOf(store, accountId);
  const connectionId = await store.connection(accountId);
  for (const [statement, value] of changesOfAnswers(connectionId)) {
    const before = await generation();
    await store.writer.query(statement, [accountId, value]);
    expect(await generation(), statement).toBeGreaterThan(before);
  }
});
