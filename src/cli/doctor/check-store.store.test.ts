import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { readConfig } from '../../config/config.ts';
import type { StoreRole } from '../../config/store-url.ts';
import { claimPulses } from '../../monitor/pulse/claim-pulses.ts';
import { openPool } from '../../store/connect.ts';
import { migrate } from '../../store/migrate.ts';
import { checkStore } from './check-store.ts';

let store: TestStore;
let root: pg.Client;
let pools: Map<StoreRole, pg.Pool>;
let accountId: number;
const secret = randomBytes(32).toString('hex');
const settings = {
  DATABASE_URL: 'postgres://unused/unused',
  DBVITALS_SECRET_KEY: secret,
  DBVITALS_ACTIVITY_DAYS: '30',
  DBVITALS_PULSE: 'no',
};

beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser('store');
  pools = new Map(
    (['owner', 'writer', 'reader', 'console'] as const).map((role) => [
      role,
      openPool(store.address, role, { max: 1 }),
    ]),
  );
  accountId = await store.account();
});
afterAll(async () => {
  await Promise.all([...pools.values()].map((pool) => pool.end()));
  await store.stop();
});

/** The warnings and errors, by what they are about. */
async function unwell(more: Partial<typeof settings> = {}): Promise<Record<string, string>> {
  const found = await checkStore(readConfig({ ...settings, ...more }), pools);
  for (const { status, remedy } of found) expect(remedy === null).toBe(status === 'ok');
  return Object.fromEntries(
    found
      .filter(({ status }) => status !== 'ok')
      .map(({ about, status, message }) => [about, `${status}: ${message}`]),
  );
}

const SUPERUSER = { roles: "warning: The store's user postgres is a superuser." };

test('a store that was never backed up, whose last backup failed, and whose last backup is old', async () => {
  expect(await unwell()).toEqual({
    ...SUPERUSER,
    backup: expect.stringMatching(
      /^warning: "dbvitals backup" has not backed up this store since it was set up, restored or upgraded on \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
    ),
  });
  await root.query(`insert into last_backup (failed_at, failure) values (now(), 'The disk is full.')`);
  expect((await unwell())['backup']).toMatch(/^error: The last backup failed at \S+Z: The disk is full\.$/);
  await root.query(`update last_backup set succeeded_at = now() - interval '36 hours', failed_at = null`);
  expect((await unwell())['backup']).toMatch(/^warning: The last backup was made at \S+Z, 36 h ago\.$/);
  await root.query('update last_backup set succeeded_at = now()');
});

test('a healthy store whose user is a superuser', async () => {
  expect(await unwell()).toEqual(SUPERUSER);
});

const entry = `
  insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties)
  values ($1, 1, now() - $2::interval, 'account_created', '/', 1, 1, '{}')`;

test.each<[what: string, provoke: string, undo: string, about: string, told: RegExp]>([
  [
    'a missing migration',
    `delete from migration where name = (select max(name) from migration)`,
    '',
    'schema',
    /^warning: The schema is missing 1 migration/,
  ],
  [
    'a migration of a later version',
    `insert into migration (name, run_on) values ('9999_later', now())`,
    `delete from migration where name = '9999_later'`,
    'schema',
    /^error: The store's schema is newer .*9999_later/,
  ],
  [
    'a role that bypasses row-level security',
    'alter role dbvitals_reader bypassrls',
    'alter role dbvitals_reader nobypassrls',
    'roles',
    /^error: dbvitals_reader must not have superuser, bypassrls/,
  ],
  [
    'a server that does not commit durably',
    `alter database store set synchronous_commit = off`,
    'alter database store reset synchronous_commit',
    'server',
    /^error: fsync or synchronous_commit is off/,
  ],
])('%s', async (_, provoke, undo, about, told) => {
  const kept = await root.query('select * from migration order by id');
  await root.query(provoke);
  await reopen();
  const found = await unwell();
  if (undo) await root.query(undo);
  else {
    const last = kept.rows.at(-1);
    await root.query('insert into migration values ($1, $2, $3)', [last?.id, last?.name, last?.run_on]);
  }
  await reopen();
  expect(found[about]).toMatch(told);
  expect(await unwell()).toEqual(SUPERUSER);
});

test.each([
  [
    'revoke select on connection_trend from dbvitals_reader',
    'grant select on connection_trend to dbvitals_reader;',
  ],
  [
    'revoke select (name) on connection from dbvitals_reader',
    'grant select (name) on connection to dbvitals_reader;',
  ],
  ['revoke insert on activity from dbvitals_writer', 'grant insert on activity to dbvitals_writer;'],
  ['grant insert on account to dbvitals_reader', 'revoke insert on account from dbvitals_reader;'],
  ['grant update on activity to dbvitals_writer', 'revoke update on activity from dbvitals_writer;'],
  [
    'grant select on api_key to dbvitals_reader',
    'revoke select on api_key from dbvitals_reader; grant select (account_id, api_key_id, name) on api_key to dbvitals_reader;',
  ],
])('%s: the doctor reports it, and the remedy fixes it', async (provoke, remedy) => {
  await root.query(provoke);
  const found = (await checkStore(readConfig(settings), pools)).find(({ about }) => about === 'roles');
  expect(found).toMatchObject({ status: 'error', remedy: `As the store's user, run: ${remedy}` });
  expect(found?.message).toMatch(/^(Requests fail, because a role lacks|A role has) 1 privilege/);
  await root.query(remedy);
  expect(await unwell()).toEqual(SUPERUSER);
});

test('a user that may not create roles, before the first migration: after the remedy, migrations work', async () => {
  await root.query(`create role plain login password 'unspoken-plain'`);
  await root.query('create database empty owner plain');
  const address = store.address.map((host) => ({
    ...host,
    user: 'plain',
    password: 'unspoken-plain',
    database: 'empty',
  }));
  const own = (['owner', 'writer', 'reader'] as const).map(
    (role) => [role, openPool(address, role, { max: 1 })] as const,
  );
  const look = async () =>
    (await checkStore(readConfig(settings), new Map(own))).find(({ about }) => about === 'roles');
  try {
    const refused = await look();
    expect(refused).toMatchObject({
      status: 'error',
      message: "The store's user may not create the roles of dbvitals, so migrations fail.",
    });
    const [, statements = ''] = /^Run this as a superuser: (.*)$/.exec(refused?.remedy ?? '') ?? [];
    await expect(migrate(address)).rejects.toThrow(statements);
    await root.query(statements);
    expect(await look()).toMatchObject({ status: 'ok' });
    expect(await migrate(address)).not.toEqual([]);
  } finally {
    await Promise.all(own.map(([, pool]) => pool.end()));
    await root.query('drop database empty with (force)');
  }
});

/** A database's settings apply only to connections that are opened later. */
async function reopen(): Promise<void> {
  await Promise.all([...pools.values()].map((pool) => pool.end()));
  for (const role of pools.keys()) pools.set(role, openPool(store.address, role, { max: 1 }));
}

test('connections that should have a pulse, and no monitor that pulses them', async () => {
  const pulses = async () => (await unwell({ DBVITALS_PULSE: 'yes' }))['pulse'];
  const connectionId = await store.connection(accountId);
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '1 d', now() + interval '1 d')`,
    [accountId, connectionId],
  );
  expect(await pulses()).toBe('warning: Connections with a pulse: 0 of 1.');
  const monitor = randomUUID();
  await claimPulses(store.writer, monitor);
  expect(await pulses()).toBeUndefined();
  await store.writer.query('update pulse_monitor set until = now()');
  expect(await pulses()).toMatch(/: 0 of 1\./);
  await store.writer.query('update connection set pulse_seconds = 0 where account_id = $1', [accountId]);
  expect(await pulses()).toBeUndefined();
});

test('a connection that no monitor checks', async () => {
  const connectionId = await store.connection(accountId);
  const due = 'update connection_schedule set due_at = now() - $2::interval where connection_id = $1';
  await root.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '5 min', now())
         on conflict do nothing`,
    [accountId, connectionId],
  );
  await root.query(due, [connectionId, '4 min']);
  expect(await unwell()).toEqual(SUPERUSER);
  await root.query(due, [connectionId, '10 min']);
  expect((await unwell())['monitor']).toMatch(/^warning: Health checks waiting: 1, the longest for 60\d s/);
  await root.query(due, [connectionId, '-1 hour']);
});

test('a log that is not sealed, and one that is not trimmed', async () => {
  await root.query(entry, [accountId, '2 hours']);
  await root.query('update activity_head set last_id = 1 where account_id = $1', [accountId]);
  expect(await unwell()).toEqual(SUPERUSER);
  await root.query(`update activity set occurred_at = now() - interval '4 hours'`);
  expect((await unwell())['retention']).toMatch(
    /^warning: Accounts with unsealed entries older than 3 hours: 1\./,
  );
  await root.query(`insert into activity_seal values ($1, 1, 1, 1, now(), 0, $2, $2, $2, now(), $3)`, [
    accountId,
    randomBytes(32),
    randomBytes(64),
  ]);
  expect(await unwell()).toEqual(SUPERUSER);
  await root.query(`update activity set occurred_at = now() - interval '33 days'`);
  expect((await unwell())['retention']).toMatch(/^warning: Accounts whose logs go back .*: 1\./);
  await root.query(`update activity set occurred_at = now()`);
});

test('a secret key that decrypts nothing', async () => {
  await root.query('insert into credential_key values ($1, $2)', [accountId, randomBytes(61)]);
  expect((await unwell())['secret']).toMatch(/^error: The secret key does not decrypt 1 of the stored keys/);
});
