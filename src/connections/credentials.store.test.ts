import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import {
  CredentialError,
  type Destination,
  decryptSecrets,
  type EncryptedSecrets,
  encryptSecrets,
  TamperedConnection,
} from './credentials.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const secret: SecretKeys = [randomBytes(32)];
const SECRETS = { password: 'pässword', sshKey: 'a private key' };

async function destination(): Promise<Destination> {
  return {
    account_id: await store.account(),
    connection_id: 1,
    engine: 'postgres',
    connection_type: 'ssh_tunnel',
    host: 'one:5432,two:5432',
    port: 5432,
    database: 'shop',
    username: 'watcher',
    tls: 'verify-full',
    password_exposable: false,
    ca_certificate: 'a certificate',
    ssh_host: 'bastion',
    ssh_port: 22,
    ssh_username: 'tunnel',
    ssh_host_key: null,
    token_source: null,
  };
}

const encrypt = (to: Destination, secrets = SECRETS) => encryptSecrets(store.writer, secret, to, secrets);
const decrypt = (to: Destination, stored: EncryptedSecrets, keys = secret) =>
  decryptSecrets(store.writer, keys, to, stored);

test('secrets decrypt with the settings that they were stored with, and are not readable in the store', async () => {
  const to = await destination();
  const stored = await encrypt(to);
  expect(stored.credential?.includes('ssword')).toBe(false);
  expect(await decrypt(to, stored)).toEqual(SECRETS);
  const none = { password: null, sshKey: null };
  expect(await decrypt(to, await encryptSecrets(store.writer, secret, to, none))).toEqual(none);
});

test.each<[keyof Destination, unknown]>([
  ['connection_id', 2],
  ['engine', 'mysql'],
  ['connection_type', 'direct'],
  ['host', 'one:5432,evil:5432'],
  ['port', 5433],
  ['database', 'other'],
  ['username', 'postgres'],
  ['tls', 'disable'],
  ['password_exposable', true],
  ['ca_certificate', null],
  ['ssh_host', 'evil'],
  ['ssh_port', 2222],
  ['ssh_username', 'root'],
  ['ssh_host_key', 'another'],
])('with another %s the secrets do not decrypt', async (field, value) => {
  const to = await destination();
  const stored = await encrypt(to);
  await expect(decrypt({ ...to, [field]: value }, stored)).rejects.toThrow(TamperedConnection);
});

test('settings whose concatenation is the same are distinguished', async () => {
  const to = await destination();
  const stored = await encrypt({ ...to, database: 'a', username: 'b","c' });
  await expect(decrypt({ ...to, database: 'a","b', username: 'c' }, stored)).rejects.toThrow(
    TamperedConnection,
  );
});

test('secrets that were copied, swapped, removed or changed do not decrypt', async () => {
  const [to, other] = [await destination(), await destination()];
  const stored = await encrypt(to);
  const others = await encrypt(other);
  const { credential, ssh_credential } = stored;
  for (const wrong of [
    { credential: ssh_credential, ssh_credential: credential },
    { credential, ssh_credential: null },
    { credential: null, ssh_credential },
    others,
  ]) {
    await expect(decrypt(to, wrong)).rejects.toThrow(TamperedConnection);
  }
  for (const [place, byte] of (credential ?? Buffer.alloc(0)).entries()) {
    const changed = Buffer.from(credential ?? '');
    changed[place] = byte ^ 1;
    await expect(decrypt(to, { credential: changed, ssh_credential })).rejects.toThrow(TamperedConnection);
  }
  await expect(decrypt(other, stored)).rejects.toThrow(TamperedConnection);

  // Copying the account's key too does not help.
  await store.writer.query(
    `update credential_key set sealed = (select sealed from credential_key where account_id = $1)
      where account_id = $2`,
    [to.account_id, other.account_id],
  );
  await expect(decrypt(other, stored)).rejects.toThrow(CredentialError);
});

test('another secret key decrypts nothing, and the error says what to do', async () => {
  const to = { ...(await destination()), connection_id: 7 };
  const stored = await encrypt(to);
  await expect(decrypt(to, stored, [randomBytes(32), randomBytes(32)])).rejects.toThrow(
    "The stored password of connection 7 can't be decrypted: set DBVITALS_SECRET_KEY",
  );
});

test('concurrent writers of an account’s first password use one key', async () => {
  const to = await destination();
  const all = [1, 2, 3, 4].map((connection_id) => ({ ...to, connection_id }));
  const stored = await Promise.all(all.map((one) => encrypt(one)));
  for (const [index, one] of all.entries()) {
    const { credential = null, ssh_credential = null } = stored[index] ?? {};
    expect(await decrypt(one, { credential, ssh_credential })).toEqual(SECRETS);
  }
});
