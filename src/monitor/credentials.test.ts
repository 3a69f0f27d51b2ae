import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/store.ts';
import type { SecretKeys } from '../wrap.ts';
import { openCredential, sealCredential } from './credentials.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const secret: SecretKeys = [randomBytes(32)];
const refusal = /does not open: set DBVITALS_SECRET_KEY .* or store the password again/;

test('a password opens for its own connection, and is not to be seen in what is stored', async () => {
  const owner = { accountId: await store.account(), connectionId: 1 };
  const sealed = await sealCredential(store.writer, secret, owner, 'pässword');
  expect(sealed.includes('ssword')).toBe(false);
  expect(await openCredential(store.writer, secret, owner, sealed)).toBe('pässword');
});

test('a row copied to another connection or account, or changed, does not open', async () => {
  const [accountId, other] = [await store.account(), await store.account()];
  const owner = { accountId, connectionId: 1 };
  const sealed = await sealCredential(store.writer, secret, owner, 'password');
  await sealCredential(store.writer, secret, { accountId: other, connectionId: 1 }, 'password');
  const open = (place: typeof owner, bytes = sealed) => openCredential(store.writer, secret, place, bytes);
  await expect(open({ accountId, connectionId: 2 })).rejects.toThrow(refusal);
  await expect(open({ accountId: other, connectionId: 1 })).rejects.toThrow(refusal);
  for (const [place, byte] of sealed.entries()) {
    const changed = Buffer.from(sealed);
    changed[place] = byte ^ 1;
    await expect(open(owner, changed)).rejects.toThrow(refusal);
  }
  await expect(open(owner, sealed.subarray(0, 20))).rejects.toThrow(refusal);

  // The account's key copied along with the password does not help either.
  await store.writer.query(
    `update credential_key set sealed = (select sealed from credential_key where account_id = $1)
      where account_id = $2`,
    [accountId, other],
  );
  await expect(open({ accountId: other, connectionId: 1 })).rejects.toThrow(refusal);
});

test('another secret opens nothing, and says what to do', async () => {
  const owner = { accountId: await store.account(), connectionId: 7 };
  const sealed = await sealCredential(store.writer, secret, owner, 'password');
  await expect(
    openCredential(store.writer, [randomBytes(32), randomBytes(32)], owner, sealed),
  ).rejects.toThrow('The stored password of connection 7 does not open');
});

test('two that seal an account’s first password at once use one key', async () => {
  const accountId = await store.account();
  const owners = [1, 2, 3, 4].map((connectionId) => ({ accountId, connectionId }));
  const sealed = await Promise.all(
    owners.map((owner) => sealCredential(store.writer, secret, owner, 'password')),
  );
  for (const [index, owner] of owners.entries()) {
    const bytes = sealed[index] ?? Buffer.alloc(0);
    expect(await openCredential(store.writer, secret, owner, bytes)).toBe('password');
  }
});
