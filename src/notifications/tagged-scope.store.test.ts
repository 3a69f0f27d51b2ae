import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { type Change, changeAccount } from '../activity/record-entry.ts';
import { removeConnection } from '../connections/remove-connection.ts';
import { changeTags } from '../connections/tags/change-tags.ts';
import { runHealthCheck } from '../monitor/run.ts';
import { within } from '../store/read.ts';
import { addRule } from './alerts/add-rule.ts';
import { rule } from './alerts/alerts-fixture.ts';
import { changeRule } from './alerts/change-rule.ts';
import { insertDestination } from './destination-fixture.ts';
import { addMaintenance } from './maintenance/add-maintenance.ts';
import { requireConnections } from './require-connections.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

interface Key {
  accountId: number;
  connectionId: number;
}

const changing =
  (accountId: number) =>
  <T>(work: (change: Change) => Promise<T>) =>
    changeAccount(store.writer, accountId, work);
const tag = ({ accountId, connectionId }: Key, changes: { add?: string[]; remove?: string[] }) =>
  changeTags(changing(accountId), [connectionId], changes);
const alwaysBroken = (connection_names: string[]) =>
  rule({ name: 'Any score', operator: '<', threshold: 99, connection_names });

async function alertsOf({ accountId }: Key) {
  const { rows } = await store.writer.query<{ state: string; resolution: string | null }>(
    'select state, resolution from alert where account_id = $1 order by alert_id',
    [accountId],
  );
  return rows;
}

async function eventsOf(accountId: number, destination: number): Promise<string[]> {
  const { rows } = await store.writer.query<{ kind: string }>(
    `select e.kind from delivery d join event e using (account_id, event_id)
      where d.account_id = $1 and d.destination_id = $2 order by d.sequence`,
    [accountId, destination],
  );
  return rows.map(({ kind }) => kind);
}

test('a run judges rules by tag, tells destinations by tag, and ends the alerts of a tag that was taken away', async () => {
  const key = await store.watched({ port: 1 });
  const { accountId } = key;
  await tag(key, { add: ['env:production', 'team:shop'] });
  await addRule(changing(accountId), { ...alwaysBroken(['tag:env:production+team:shop']), name: 'Both' });
  const [told, other] = [
    await insertDestination(store.writer, accountId, {
      kinds: ['alert.triggered', 'alert.resolved'],
      connection_names: ['tag:team:shop'],
    }),
    await insertDestination(store.writer, accountId, {
      kinds: ['alert.triggered', 'alert.resolved'],
      connection_names: ['tag:team:crm'],
    }),
  ];
  await runHealthCheck(store.deps, key);
  expect(await alertsOf(key)).toEqual([{ state: 'open', resolution: null }]);
  expect(await eventsOf(accountId, told)).toEqual(['alert.triggered']);
  await tag(key, { remove: ['env:production'] });
  await runHealthCheck(store.deps, key);
  expect(await alertsOf(key)).toEqual([{ state: 'resolved', resolution: expect.any(String) }]);
  expect(await eventsOf(accountId, told)).toEqual(['alert.triggered', 'alert.resolved']);
  expect(await eventsOf(accountId, other)).toEqual([]);
});

test('a window for a tag holds back what happens, and the removal of a connection is told to those of its tags', async () => {
  const key = await store.watched({ port: 1 });
  const { accountId, connectionId } = key;
  await tag(key, { add: ['env:staging'] });
  const told = await insertDestination(store.writer, accountId, {
    kinds: ['ops.ticket_created', 'ops.ticket_resolved'],
    connection_names: ['tag:env:staging'],
  });
  await runHealthCheck(store.deps, key);
  expect(await eventsOf(accountId, told)).toEqual(['ops.ticket_created']);
  await addMaintenance(changing(accountId), {
    name: 'Staging',
    connection_ids: null,
    connection_names: ['tag:env:staging'],
    starts_at: null,
    ends_at: new Date(Date.now() + 3_600_000),
    weekdays: null,
  });
  await runHealthCheck(store.deps, key);
  const { rows } = await store.writer.query(
    'select in_maintenance from health_check where account_id = $1 order by health_check_id',
    [accountId],
  );
  expect(rows).toEqual([{ in_maintenance: false }, { in_maintenance: true }]);
  await removeConnection(changing(accountId), connectionId);
  expect(await eventsOf(accountId, told)).toEqual(['ops.ticket_created', 'ops.ticket_resolved']);
});

test('a rule or window for a tag that no connection has, or that is none, gets a sentence', async () => {
  const key = await store.watched();
  const other = await store.watched();
  const { accountId } = key;
  await tag(other, { add: ['theirs'] });
  const add = (pattern: string) => addRule(changing(accountId), alwaysBroken([pattern]));
  const syntax = 'Write tags as tag:env:production, and several as tag:env:production+team:shop.';
  for (const pattern of ['tag:', 'tag:two words', 'tag:a+', 'tag:a,b', 'tag:*']) {
    await expect(add(pattern)).rejects.toThrow(syntax);
    await expect(
      requireConnections(within(store.writer), accountId, {
        connection_ids: null,
        connection_names: [pattern],
      }),
    ).rejects.toThrow(syntax);
  }
  await expect(add('tag:theirs')).rejects.toThrow('This rule can never hold: no connection matches.');
  await tag(key, { add: ['ours'] });
  const { id } = await add('tag:OURS');
  await expect(changeRule(changing(accountId), id, { connection_names: ['tag:theirs'] })).rejects.toThrow(
    'This rule can never hold: no connection matches.',
  );
});
