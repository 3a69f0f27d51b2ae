import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSshKey } from '../../test/ssh-key.ts';
import { startTestStore, type TestStore } from '../../test/store.ts';
import { type ChangeAccount, changeAccount } from '../activity/record-entry.ts';
import { parseConnectionUrl } from '../monitor/connection-url.ts';
import { addConnection, changeConnection, removeConnection } from '../monitor/record-connection.ts';
import { UsageError } from './command.ts';
import { privateKeyOf, sshLoginOf } from './ssh-login.ts';

const folder = mkdtempSync(join(tmpdir(), 'ssh-login-'));
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
  '%s is refused',
  (text) => {
    expect(() => sshLoginOf(text)).toThrow(UsageError);
  },
);

test('a key file holds a private key without a passphrase', () => {
  const { private: key, public: other } = makeSshKey();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  expect(privateKeyOf(file('key', key))).toBe(key);
  const locked = ssh.utils.generateKeyPairSync('ed25519', {
    passphrase: 'x',
    cipher: 'aes256-ctr',
    rounds: 4,
  });
  for (const text of [other, 'nothing', locked.private]) {
    expect(() => privateKeyOf(file('other', text))).toThrow(/no passphrase/);
  }
  expect(() => privateKeyOf(join(folder, 'absent'))).toThrow(/can be read/);
});

const seal = async (_client: unknown, { of = 'password' }: { of?: string }, text: string) =>
  Buffer.from(`${of}: ${text}`);

const url = 'postgres://ada:secret@db.internal/app';
const wanted = { name: 'shop', tls: 'verify-full', every: 300 } as const;

async function stored(accountId: number) {
  const text = `select connection_type, host, tls, ssh_username, ssh_host, ssh_port, ssh_host_key,
                       convert_from(credential, 'UTF8') as password, convert_from(ssh_credential, 'UTF8') as ssh_key
                  from connection where account_id = $1`;
  return (await store.writer.query(text, [accountId])).rows[0];
}

test('a tunnel is stored, stays under a new URL, changes with its key, and goes with --type direct', async () => {
  const accountId = await store.account();
  const login = { username: 'tunnel', host: 'bastion', port: 22 };
  const address = parseConnectionUrl(url);
  const tunnel = { ssh: login, sshKey: 'a key' };
  const change: ChangeAccount = (work) => changeAccount(store.writer, accountId, work);
  const { id, connection_type } = await addConnection(change, seal, {
    ...address,
    ...wanted,
    ...tunnel,
  });
  expect(connection_type).toBe('ssh_tunnel');
  const first = { ssh_username: 'tunnel', ssh_host: 'bastion', ssh_port: 22, ssh_key: 'ssh key: a key' };
  expect(await stored(accountId)).toMatchObject({ host: 'db.internal', tls: 'verify-full', ...first });

  await store.writer.query(`update connection set ssh_host_key = 'known' where account_id = $1`, [accountId]);
  const other = { address: { ...address, host: 'db2.internal' }, password: 'secret' };
  await changeConnection(change, seal, id, other);
  expect(await stored(accountId)).toMatchObject({
    connection_type: 'ssh_tunnel',
    ...first,
    ssh_host_key: 'known',
  });

  const elsewhere = { ssh: { ...login, host: 'bastion2' } };
  await expect(changeConnection(change, seal, id, elsewhere)).rejects.toThrow(/Give the password/);
  await changeConnection(change, seal, id, { ...elsewhere, password: 'secret' });
  expect(await stored(accountId)).toMatchObject({ ssh_host: 'bastion2', ssh_host_key: null });

  await changeConnection(change, seal, id, { ...other, type: 'direct' });
  expect(await stored(accountId)).toMatchObject({ connection_type: 'direct', ssh_key: null });
  await expect(changeConnection(change, seal, id, { sshKey: 'b' })).rejects.toThrow(/with an SSH server/);
});

test('of a connection that is removed neither the password nor the SSH key stays', async () => {
  const accountId = await store.account();
  const change: ChangeAccount = (work) => changeAccount(store.writer, accountId, work);
  const { id } = await addConnection(change, seal, {
    ...{ ...parseConnectionUrl(url), ...wanted },
    ...{ ssh: { username: 'tunnel', host: 'bastion', port: 22 }, sshKey: 'a key' },
  });
  const secrets = { password: 'password: secret', ssh_key: 'ssh key: a key' };
  expect(await stored(accountId)).toMatchObject(secrets);
  await removeConnection(change, id);
  expect(await stored(accountId)).toMatchObject({ password: null, ssh_key: null });
});
