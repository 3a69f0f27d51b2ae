import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { Gate } from './admit.ts';
import { addAccount, addKey, generationOf, logOf, request } from './applicants-fixture.ts';
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

const setScopes = (keyId: number, scopes: string[] | null) =>
  store.writer.query('update api_key set scopes = $2 where api_key_id = $1', [keyId, scopes]);

test('a request that was judged by other access rules than the newest is neither recorded nor counted, at any gate', async () => {
  const accountId = await addAccount(store, 100);
  const keyId = await addKey(store, accountId);
  const ask = (gate: Gate, given: Partial<Applicant> = {}) => gate.admit(request(accountId, keyId, given));
  expect(await ask(gates[0])).toMatchObject({ verdict: 'admitted', remaining: 99, accessVersion: null });

  await setScopes(keyId, ['health']);
  const generation = await generationOf(store, accountId);
  for (const gate of gates) {
    // Read afresh, kept, and not prepared at all.
    for (const given of [{}, { generation }, { prepared: false }]) {
      expect(await ask(gate, given)).toMatchObject({ verdict: 'moved', accessVersion: 2 });
    }
  }
  expect(await logOf(store, accountId)).toHaveLength(1);
  expect(await ask(gates[1], { accessVersion: 2, generation })).toMatchObject({
    verdict: 'admitted',
    remaining: 98,
  });

  // The version never comes back, so rules that were changed and changed back are not those of before.
  await setScopes(keyId, null);
  expect(await ask(gates[0])).toMatchObject({ verdict: 'moved', accessVersion: 3 });
});

test('one batch never holds requests of a key that were judged by different rules', async () => {
  const accountId = await addAccount(store, 1_000);
  const keyId = await addKey(store, accountId);
  await setScopes(keyId, ['health']);
  const versions = Array.from({ length: 60 }, (_, n) => 1 + (n % 2));
  const verdicts = await Promise.all(
    versions.map((accessVersion) => gates[0].admit(request(accountId, keyId, { accessVersion }))),
  );
  expect(verdicts.map(({ verdict }) => verdict)).toEqual(
    versions.map((version) => (version === 2 ? 'admitted' : 'moved')),
  );
  expect(await logOf(store, accountId)).toHaveLength(30);
});

test('a request over the limit is told so only if it was judged by the newest rules', async () => {
  const accountId = await addAccount(store, 1);
  const keyId = await addKey(store, accountId);
  const ask = (given: Partial<Applicant> = {}) => gates[0].admit(request(accountId, keyId, given));
  await ask();
  await setScopes(keyId, ['health']);
  expect((await ask({ prepared: false })).verdict).toBe('moved');
  expect((await ask({ prepared: false, accessVersion: 2 })).verdict).toBe('limited');
});
