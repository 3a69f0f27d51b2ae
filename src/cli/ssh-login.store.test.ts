import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSshKey } from '../../test/support/ssh-key.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { type ChangeAccount, changeAccount } from '../activity/record-entry.ts';
import { addConnection } from '../connections/add-connection.ts';
import { changeConnection } from '../connections/change-connection.ts';
import { parseConnectionUrl } from '../connections/connection-url.ts';
import { readSecrets } from '../connections/credentials.ts';
import { removeConnection } from '../connections/remove-connection.ts';
import { privateKeyOf, sshLoginOf } from './ssh-login.ts';
import { UsageError } from './usage-error.ts';

const folder = mkdtempSync(join(tmpdir(), 'ssh-login-'));
const OWN = { environment: {}, dataDir: join(folder, 'data') };
let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await store.stop();
});

test.each([
  ['ada@bastion', 'ada', 'bastion', 22],
  ['ada@10.0.0.1:2222', 'ada', '10.0.0.1', 2222],
  ['ada@[::1]:7', 'ada', '::1', 7],
])('%s is read', (text, username, host, port) => {
  expect(sshLoginOf(text)).toEqual({ username, host, port });
});

test.each(['bastion', '@bastion', 'ada@', 'ada@a b', 'ada@bastion:0', 'ada@bastion:65536', 'ada@::1'])(
  '%s is rejected',
  (text) => {
    expect(() => sshLoginOf(text)).toThrow(UsageError);
  },
);

test('a key file holds a private key without a passphrase', () => {
  const { private: key, public: other } = makeSshKey();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  expect(privateKeyOf(file('key', key), OWN)).toBe(key);
  const locked = ssh.utils.generateKeyPairSync('ed25519', {
    passphrase: 'x',
    cipher: 'aes256-ctr',
    rounds: 4,
  });
  for (const text of [other, 'nothing', locked.private]) {
    expect(() => privateKeyOf(file('other', text), OWN)).toThrow(/without a passphrase/);
  }
  expect(() => privateKeyOf(join(folder, 'absent'), OWN)).toThrow(/absent cannot be read \(ENOENT\)/);
});

const url = 'postgres://ada:secret@db.internal/app';
const wanted = { name: 'shop', tls: 'verify-full', every: 300 } as const;

async function stored(accountId: number) {
  const text = `select connection_id, connection_type, host, tls, ssh_username, ssh_host, ssh_port, ssh_host_key
                  from connection where account_id = $1`;
  const [{ connection_id, ...row }] = (await store.writer.query(text, [accountId])).rows;
  const { writer, deps } = store;
  return { ...row, ...(await readSecrets(writer, deps.secret, { accountId, connectionId: connection_id })) };
}

test('a tunnel is stored, survives a new URL, can be changed, and is removed by --type direct', async () => {
  const accountId = await store.account();
  const login = { username: 'tunnel', host: 'bastion', port: 22 };
  const address = parseConnectionUrl(url);
  const tunnel = { ssh: login, sshKey: 'a key' };
  const change: ChangeAccount = (work) => changeAccount(store.writer, accountId, work);
  const { secret } = store.deps;
  const { id, connection_type } = await addConnection(change, secret, {
    ...address,
    ...wanted,
    ...tunnel,
  });
  expect(connection_type).toBe('ssh_tunnel');
  const first = {
    ssh_username: 'tunnel',
    ssh_host: 'bastion',
    ssh_port: 22,
    sshKey: 'a key',
    password: 'secret',
  };
  expect(await stored(accountId)).toMatchObject({ host: 'db.internal', tls: 'verify-full', ...first });

  const secrets = { password: 'secret', sshKey: 'a key' };
  await store.set({ accountId, connectionId: id }, { ssh_host_key: 'known' }, secrets);
  const other = { address: { ...address, host: 'db2.internal' }, password: 'secret' };
  await changeConnection(change, secret, id, other);
  expect(await stored(accountId)).toMatchObject({
    connection_type: 'ssh_tunnel',
    ...first,
    ssh_host_key: 'known',
  });

  const elsewhere = { ssh: { ...login, host: 'bastion2' } };
  await expect(changeConnection(change, secret, id, elsewhere)).rejects.toThrow(/enter the password again/);
  await expect(changeConnection(change, secret, id, { ...elsewhere, password: 'secret' })).rejects.toThrow(
    /changes the SSH server or user: enter the private key again/,
  );
  await changeConnection(change, secret, id, { ...elsewhere, password: 'secret', sshKey: 'b' });
  expect(await stored(accountId)).toMatchObject({ ssh_host: 'bastion2', ssh_host_key: null, sshKey: 'b' });

  await changeConnection(change, secret, id, { ...other, type: 'direct' });
  expect(await stored(accountId)).toMatchObject({ connection_type: 'direct', sshKey: null });
  await expect(changeConnection(change, secret, id, { sshKey: 'b' })).rejects.toThrow(/needs an SSH server/);
});

test('removing a connection deletes its password and its SSH key', async () => {
  const accountId = await store.account();
  const change: ChangeAccount = (work) => changeAccount(store.writer, accountId, work);
  const { secret } = store.deps;
  const { id } = await addConnection(change, secret, {
    ...parseConnectionUrl(url),
    ...wanted,
    ssh: { username: 'tunnel', host: 'bastion', port: 22 },
    sshKey: 'a key',
  });
  expect(await stored(accountId)).toMatchObject({ password: 'secret', sshKey: 'a key' });
  await removeConnection(change, id);
  const kept = 'select credential, ssh_credential from connection where account_id = $1';
  const { rows } = await store.writer.query(kept, [accountId]);
  expect(rows).toEqual([{ credential: null, ssh_credential: null }]);
});
