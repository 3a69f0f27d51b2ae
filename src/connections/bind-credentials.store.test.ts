import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import type { ConnectionKey } from '../monitor/monitor-deps.ts';
import { encrypt } from '../platform/encryption.ts';
import { bindAtStart } from './bind-credentials.ts';
import { readSecrets, TamperedConnection } from './credentials.ts';

let store: TestStore;
let owner: pg.Client;
beforeEach(async () => {
  store = await startTestStore();
  owner = await store.superuser('store');
});
afterEach(() => store.stop());

/** Connections as an earlier version stored them: with a password, with a password and an SSH key, with neither. */
async function storedBefore(): Promise<ConnectionKey[]> {
  const accountId = await store.account();
  const key = randomBytes(32);
  const sealed = encrypt(store.deps.secret, `dbvitals credential key, account ${accountId}`, key);
  await owner.query('insert into credential_key values ($1, $2)', [accountId, sealed]);
  const keys: ConnectionKey[] = [];
  for (const kinds of [['credential'], ['credential', 'ssh key'], []]) {
    const type = kinds.length === 2 ? 'ssh_tunnel' : 'direct';
    const connectionId = await store.connection(accountId, { connection_type: type, host: 'db.example.com' });
    const of = `account ${accountId}, connection ${connectionId}`;
    for (const kind of kinds) {
      const column = kind === 'credential' ? 'credential' : 'ssh_credential';
      const encrypted = encrypt([key], `dbvitals ${kind}, ${of}`, Buffer.from(`the ${kind}`));
      const text = `update connection set ${column} = $2 where connection_id = $1`;
      await owner.query(text, [connectionId, encrypted]);
    }
    const schedule = `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '1 h', now())`;
    await owner.query(schedule, [accountId, connectionId]);
    keys.push({ accountId, connectionId });
  }
  return keys;
}

const bind = (secret = store.deps.secret) => bindAtStart(store.writer, secret, store.deps.log);
const read = (key: ConnectionKey) => readSecrets(store.writer, store.deps.secret, key);

async function copyOf(table: string): Promise<string> {
  await owner.query(`create table copy_of_${table} as table ${table}`);
  return `copy_of_${table}`;
}

test('credentials of an earlier version are bound once, at the first start, and still decrypt', async () => {
  const [one, two, three] = await storedBefore();
  if (!one || !two || !three) throw new Error('three were stored');
  await Promise.all([bind(), bind(), bind()]);
  expect(store.said).toEqual([
    { level: 'info', message: expect.stringMatching(/are now bound to their connections' settings/) },
  ]);
  expect(await read(one)).toEqual({ password: 'the credential', sshKey: null });
  expect(await read(two)).toEqual({ password: 'the credential', sshKey: 'the ssh key' });
  expect(await read(three)).toEqual({ password: null, sshKey: null });
  await owner.query(`update connection set host = 'evil.example.com' where connection_id = $1`, [
    one.connectionId,
  ]);
  await bind();
  await expect(read(one)).rejects.toThrow(TamperedConnection);
});

test('once a store is bound, unbound credentials no longer decrypt, with their own key or after a restart', async () => {
  const [one] = await storedBefore();
  const [other] = await storedBefore();
  if (!one || !other) throw new Error('two were stored');
  const [keys, connections] = [await copyOf('credential_key'), await copyOf('connection')];
  await bind();
  store.said.length = 0;

  // The owner of the database restores an old copy for one account.
  const back = `update credential_key k set sealed = b.sealed from ${keys} b where b.account_id = k.account_id and k.account_id = $1`;
  await owner.query(back, [one.accountId]);
  await owner.query(
    `update connection c set credential = b.credential, host = 'evil.example.com'
       from ${connections} b where b.connection_id = c.connection_id and c.connection_id = $1`,
    [one.connectionId],
  );
  await expect(read(one)).rejects.toThrow(TamperedConnection);
  await bind();
  expect(store.said).toEqual([{ level: 'error', message: expect.stringMatching(/^tampering: /) }]);
  await expect(read(one)).rejects.toThrow(TamperedConnection);
  expect(await read(other)).toMatchObject({ password: 'the credential' });

  // Storing the password again creates a new, bound key.
  await store.set(one, { host: 'db.example.com' }, { password: 'anew' });
  expect(await read(one)).toMatchObject({ password: 'anew' });
});

test('a wrong secret key binds nothing and replaces no key', async () => {
  const [one] = await storedBefore();
  if (!one) throw new Error('one was stored');
  await bind([randomBytes(32)]);
  expect(store.said).toEqual([]);
  await bind();
  expect(await read(one)).toMatchObject({ password: 'the credential' });
});
