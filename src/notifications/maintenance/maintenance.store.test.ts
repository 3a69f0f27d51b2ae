import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import type { Read } from '../../store/read.ts';
import { addMaintenance, type WantedMaintenance } from './add-maintenance.ts';
import { endMaintenance } from './end-maintenance.ts';
import { listMaintenance } from './list-maintenance.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const HOUR = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR);
const all = { connection_ids: null, connection_names: null };
const read: Read = async (text, values) => (await store.writer.query(text, values)).rows;
const changeOf =
  (accountId: number): ChangeAccount =>
  (work) =>
    changeAccount(store.writer, accountId, work);

const now: WantedMaintenance = {
  name: 'Move to new disks',
  ...all,
  weekdays: null,
  starts_at: null,
  ends_at: inHours(2),
};
const sundays: WantedMaintenance = {
  name: 'Updates',
  ...all,
  starts_at: null,
  weekdays: [7, 6, 7],
  start_time: '02:00',
  time_zone: 'europe/berlin',
  minutes: 120,
};

test('windows are listed as active, coming and past', async () => {
  const accountId = await store.account();
  const change = changeOf(accountId);
  const coming = await addMaintenance(change, { ...now, starts_at: inHours(1) });
  const updates = await addMaintenance(change, sundays);
  const active = await addMaintenance(change, now);
  expect([coming.state, active.state]).toEqual(['coming', 'active']);
  expect(updates).toMatchObject({
    weekdays: [6, 7],
    start_time: '02:00',
    time_zone: 'Europe/Berlin',
    minutes: 120,
  });
  expect(updates.starts_at?.getTime()).toBeGreaterThan(Date.now() - 2 * HOUR);
  const gone = await addMaintenance(change, { ...now, starts_at: inHours(5), ends_at: inHours(6) });
  await endMaintenance(change, gone.id);
  const listed = await listMaintenance(read, accountId);
  expect(listed.map(({ state }) => state)).toEqual(listed.map(({ state }) => state).toSorted());
  expect(listed.map(({ id }) => id).sort()).toEqual(
    [coming, updates, active, gone].map(({ id }) => id).sort(),
  );
  expect(listed.find(({ id }) => id === gone.id)?.state).toBe('past');
  const inWeeks = await listMaintenance(read, accountId, inHours(2_000));
  expect(inWeeks.filter(({ state }) => state === 'past')).toHaveLength(3);
});

test('an active window ends at once, and neither it nor a past one ends again', async () => {
  const accountId = await store.account();
  const change = changeOf(accountId);
  const { id } = await addMaintenance(change, now);
  const ended = await endMaintenance(change, id);
  expect(ended.state).toBe('past');
  expect(Math.abs((ended.ends_at?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
  await expect(endMaintenance(change, id)).rejects.toThrow(`no active or coming maintenance window ${id}`);
});

test('both changes are in the log', async () => {
  const accountId = await store.account();
  const { id } = await addMaintenance(changeOf(accountId), sundays, { actor: 'command line' });
  await endMaintenance(changeOf(accountId), id);
  const { rows } = await store.writer.query(
    `select action_type, page_path, properties from activity where account_id = $1 and action_type like 'maintenance%' order by id`,
    [accountId],
  );
  const window = { maintenance_id: id, name: 'Updates', weekdays: [6, 7], start_time: '02:00', minutes: 120 };
  expect(rows).toMatchObject([
    {
      action_type: 'maintenance_added',
      page_path: '/alerts',
      properties: { ...window, actor: 'command line' },
    },
    { action_type: 'maintenance_ended', properties: window },
  ]);
});

test.each<[string, Partial<Record<string, unknown>>, RegExp, string]>([
  [
    'past',
    { starts_at: inHours(-3), ends_at: inHours(-1) },
    /^The window is in the past: it ended at 20/,
    'ends_at',
  ],
  ['past, from now', { ends_at: inHours(-1) }, /^The window is in the past/, 'ends_at'],
  ['backwards', { starts_at: inHours(3), ends_at: inHours(2) }, /must end after it starts/, 'ends_at'],
  ['too long', { ends_at: inHours(30 * 24 + 1) }, /at most 30 days/, 'ends_at'],
  ['far away', { starts_at: inHours(9_000), ends_at: inHours(9_001) }, /within a year/, 'starts_at'],
  ['of another account', { connection_ids: [1_000_000] }, /There is no connection 1000000/, 'connections'],
  ['of no connection', { connection_names: ['prod-*'] }, /No connection matches "prod-\*"\./, 'connections'],
  ['of nothing', { connection_ids: [] }, /Choose at least one connection/, 'connections'],
])('a window that is %s is rejected', async (_, given, message, parameter) => {
  const accountId = await store.account();
  await store.connection(accountId, { name: 'shop' });
  const wanted = { ...now, ...given } as WantedMaintenance;
  const rejection = addMaintenance(changeOf(accountId), wanted);
  await expect(rejection).rejects.toMatchObject({ message: expect.stringMatching(message), parameter });
  expect(await listMaintenance(read, accountId)).toEqual([]);
});

test.each<[Partial<Record<string, unknown>>, RegExp, string]>([
  [{ weekdays: [] }, /Choose at least one weekday/, 'weekdays'],
  [{ weekdays: [0] }, /Choose at least one weekday/, 'weekdays'],
  [{ start_time: '24:00' }, /hours and minutes, such as 02:00/, 'start_time'],
  [{ time_zone: 'Europe/Berlim' }, /Did you mean Europe\/Berlin\?/, 'time_zone'],
  [{ minutes: 10_081 }, /between 1 minute and 7 days/, 'minutes'],
  [{ weekdays: [1, 2, 3, 4, 5, 6, 7], minutes: 1_440 }, /would never end/, 'minutes'],
  [{ weekdays: [3], minutes: 10_080 }, /would never end/, 'minutes'],
])('a recurring window with %j is rejected', async (given, message, parameter) => {
  const wanted = { ...sundays, ...given } as WantedMaintenance;
  const rejection = addMaintenance(changeOf(await store.account()), wanted);
  await expect(rejection).rejects.toMatchObject({ message: expect.stringMatching(message), parameter });
});

test('a window of one account can be neither seen nor ended by another', async () => {
  const [mine, other] = [await store.account(), await store.account()];
  const connectionId = await store.connection(mine);
  const { id } = await addMaintenance(changeOf(mine), { ...now, connection_ids: [connectionId] });
  await expect(endMaintenance(changeOf(other), id)).rejects.toThrow('no active or coming');
  await expect(addMaintenance(changeOf(other), { ...now, connection_ids: [connectionId] })).rejects.toThrow(
    `There is no connection ${connectionId}.`,
  );
  expect(await listMaintenance(read, other)).toEqual([]);
});

test('the windows of an account have at most 1,000 names', async () => {
  const accountId = await store.account();
  await store.connection(accountId, { name: 'shop' });
  await store.writer.query(
    `insert into maintenance (account_id, name, connection_names, starts_at, ends_at, created_by, created_at)
     select $1, 'window ' || n, array_fill('shop'::text, array[111]), now(), now() + interval '1 h', 'Ada', now()
       from generate_series(1, 9) n`,
    [accountId],
  );
  const named = (...connection_names: string[]) => ({ ...now, connection_ids: null, connection_names });
  await expect(addMaintenance(changeOf(accountId), named('shop', 'sh*'))).rejects.toThrow(
    'at most 1000 names',
  );
  await addMaintenance(changeOf(accountId), named('shop'));
});

test('an account has at most 100 windows', async () => {
  const accountId = await store.account();
  await store.writer.query(
    `insert into maintenance (account_id, name, starts_at, ends_at, created_by, created_at)
     select $1, 'window ' || n, now(), now() + interval '1 h', 'Ada', now() from generate_series(1, 100) n`,
    [accountId],
  );
  await expect(addMaintenance(changeOf(accountId), now)).rejects.toThrow('at most 100 maintenance windows');
});
