import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { ensureSealKeys, openSealKeys } from '../activity/seals/seal-key.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { redactionKey } from '../runs/changes/redaction-key.ts';
import { inTransaction, openPool } from '../store/connect.ts';
import { type Destination, decryptSecrets, type EncryptedSecrets, encryptSecrets } from './credentials.ts';
import { countLost, requireOwnSecret, rotateSecretKey } from './rotate-secret-key.ts';

let store: TestStore;
let owner: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 2 });
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

const [before, after, another] = [randomBytes(32), randomBytes(32), randomBytes(32)];

let accounts: number[];
let passwords: EncryptedSecrets[];
beforeEach(async () => {
  const root = await store.superuser('store');
  await root.query('delete from credential_key; delete from seal_key; delete from redaction_key');
  accounts = await Promise.all([store.account(), store.account(), store.account()]);
  passwords = await Promise.all(accounts.map((accountId) => encrypt([before], accountId, 'open sesame')));
  for (const accountId of accounts)
    await inTransaction(owner, (client) => ensureSealKeys(client, [before], accountId));
});

const destinationOf = (account_id: number): Destination => ({
  account_id,
  connection_id: 1,
  engine: 'postgres',
  connection_type: 'direct',
  host: 'db',
  port: 5432,
  database: 'shop',
  username: 'watcher',
  tls: 'verify-full',
  password_exposable: false,
  ca_certificate: null,
  ssh_host: null,
  ssh_port: null,
  ssh_username: null,
  ssh_host_key: null,
  token_source: null,
});
const encrypt = (secret: SecretKeys, accountId: number, password: string) =>
  encryptSecrets(store.writer, secret, destinationOf(accountId), { password, sshKey: null });
const decrypt = (secret: SecretKeys, accountId: number, stored: EncryptedSecrets) =>
  decryptSecrets(store.writer, secret, destinationOf(accountId), stored);

/** Counts the accounts' credentials and signing keys that `secret` decrypts. */
async function opened(secret: SecretKeys): Promise<[credentials: number, sealKeys: number]> {
  let [credentials, sealKeys] = [0, 0];
  for (const [index, accountId] of accounts.entries()) {
    const encrypted = passwords[index] ?? { credential: null, ssh_credential: null };
    const secrets = await decrypt(secret, accountId, encrypted).catch(() => null);
    if (secrets?.password === 'open sesame') credentials += 1;
    sealKeys += (await openSealKeys(owner, secret, accountId)).size;
  }
  return [credentials, sealKeys];
}

test('after a rotation the new key alone decrypts everything, and the old key nothing', async () => {
  expect(await rotateSecretKey(owner, [after, before], false)).toEqual({
    rewrapped: 6,
    unchanged: 0,
    forgotten: 0,
  });
  expect(await opened([after])).toEqual([3, 3]);
  expect(await opened([before])).toEqual([0, 0]);
  expect(await rotateSecretKey(owner, [after], false)).toEqual({ rewrapped: 0, unchanged: 6, forgotten: 0 });
});

test('concurrent rotations, while accounts store their first passwords, leave all keys encrypted with the new key', async () => {
  const added: Promise<EncryptedSecrets>[] = [];
  const late = await Promise.all(Array.from({ length: 20 }, () => store.account()));
  const rotations = [1, 2, 3].map(() => rotateSecretKey(owner, [after, before], false));
  for (const accountId of late) added.push(encrypt([after, before], accountId, 'open sesame'));
  const counts = await Promise.all(rotations);
  expect(counts.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(6);
  accounts.push(...late);
  passwords.push(...(await Promise.all(added)));
  expect((await opened([after]))[0]).toBe(23);
});

test('a rotation changes nothing if no key decrypts one of the stored keys', async () => {
  await inTransaction(owner, (client) =>
    client.query('delete from credential_key where account_id = $1', [accounts[1]]),
  );
  await encrypt([another], accounts[1] ?? 0, 'another');
  await expect(rotateSecretKey(owner, [after, before], false)).rejects.toThrow(
    `No key of DBVITALS_SECRET_KEY decrypts what is stored for account ${accounts[1]}, and nothing was changed`,
  );
  expect(await opened([before])).toEqual([2, 3]);
  expect(await opened([after])).toEqual([0, 0]);
});

test('a rotation that is interrupted after its first table changes nothing', async () => {
  const root = await store.superuser('store');
  await root.query('begin');
  await root.query('select from seal_key for update');
  const interrupted = expect(rotateSecretKey(owner, [after, before], false)).rejects.toThrow(/terminat/);
  const end = `select pg_terminate_backend(pid) from pg_stat_activity
                where application_name = 'dbvitals owner' and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await root.query(end)).rowCount).toBe(1);
  await interrupted;
  await root.query('rollback');
  expect(await opened([before])).toEqual([3, 3]);
  expect(await opened([after])).toEqual([0, 0]);
});

test('with forgetLost, a rotation removes what a lost key encrypted, and passwords can be stored again', async () => {
  const accountId = accounts[0] ?? 0;
  await expect(encrypt([after], accountId, 'again')).rejects.toThrow("can't be decrypted");
  expect(await rotateSecretKey(owner, [after], true)).toEqual({ rewrapped: 0, unchanged: 0, forgotten: 3 });
  const stored = await encrypt([after], accountId, 'again');
  expect(await decrypt([after], accountId, stored)).toMatchObject({ password: 'again' });
  expect((await opened([before]))[1], 'signing keys are kept').toBe(3);
});

test('after forgetLost nothing is lost, and the logs are sealed with a new key', async () => {
  await rotateSecretKey(owner, [after], true);
  const lost = await inTransaction(owner, (client) => countLost(client, [after]));
  expect(lost).toBe(0);
  await requireOwnSecret(store.address, [after]);
  for (const accountId of accounts) {
    const keys = await inTransaction(owner, (client) => ensureSealKeys(client, [after], accountId));
    expect(keys.size).toBe(1);
    expect([...keys.keys()]).not.toEqual([...(await openSealKeys(owner, [before], accountId)).keys()]);
  }
  // Later rotations are not refused because of what was forgotten.
  expect(await rotateSecretKey(owner, [another, after], false)).toMatchObject({ forgotten: 0 });
  await expect(requireOwnSecret(store.address, [before, after])).resolves.toBeUndefined();
  await expect(requireOwnSecret(store.address, [randomBytes(32)])).rejects.toThrow(/decrypts nothing/);
});

test('a rotation keeps the keys that hash sensitive settings; a lost one is made anew', async () => {
  const accountId = accounts[0] ?? 0;
  const of = { accountId, connectionId: await store.connection(accountId) };
  const stored = async () =>
    (await owner.query<{ encrypted: Buffer }>('select encrypted from redaction_key')).rows[0]?.encrypted ??
    null;
  const keyBy = async (secret: SecretKeys) => redactionKey(store.writer, secret, of, await stored());
  const key = await keyBy([before]);
  expect(key).toHaveLength(32);
  expect(await keyBy([before])).toEqual(key);
  expect(await rotateSecretKey(owner, [after, before], false)).toMatchObject({ rewrapped: 7 });
  expect(await keyBy([after])).toEqual(key);

  await expect(rotateSecretKey(owner, [another], false)).rejects.toThrow(/nothing was changed/);
  await rotateSecretKey(owner, [another], true);
  expect(await stored()).toBeNull();
  const made = await keyBy([another]);
  expect(made).toHaveLength(32);
  expect(made).not.toEqual(key);
});
