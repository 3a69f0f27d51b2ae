import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeOnboarding, type OnboardingChanges } from '../../accounts/members/change-onboarding.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { removeSampleConnections } from '../../connections/samples/remove-sample-connections.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { Onboarding } from './onboarding-routes.ts';

let store: TestStore;
let testConsole: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const schedule = `
  insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '5 min', now())`;

const version = `
  insert into connection_version (account_id, connection_id, version, since) values ($1, $2, 180004, now())`;

const sample = `
  insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
  select $1, 'sample ' || n, 'postgres', 'direct', 'no-such-host', 5432, 'app', 'dbvitals', 'verify-full', now()
    from generate_series(1, $2::integer) n`;

async function onboarding(owner: { read<T>(path: string): Promise<T> }) {
  const { steps, ...rest } = await owner.read<Onboarding>('/onboarding');
  return { done: steps.filter(({ done }) => done).map(({ id }) => id), all: steps.length, ...rest };
}

test('steps tick by what the account has, and what each member did', async () => {
  const owner = await testConsole.owner();
  const { accountId, memberId } = owner;
  const seen = { all: 5, dismissed: false, samples: 0 };
  expect(await onboarding(owner)).toEqual({ done: [], ...seen });
  const add = async (name: string) => {
    const connectionId = await store.connection(accountId, { name });
    await store.writer.query(schedule, [accountId, connectionId]);
    return connectionId;
  };
  const reach = (connectionId: number) => store.writer.query(version, [accountId, connectionId]);
  await reach(await add('dbvitals store'));
  const shop = await add('shop');
  // No run has reached its server.
  expect(await onboarding(owner)).toEqual({ done: [], ...seen });
  await reach(shop);
  const key = await testConsole.member(accountId, 'Viewer', 'viewer');
  expect(await onboarding(owner)).toEqual({ done: ['watch', 'invite'], ...seen });
  const change = (changes: OnboardingChanges, of = memberId) =>
    changeOnboarding((work) => changeAccount(store.writer, accountId, work), of, changes);
  await change({ finding_read: true });
  await change({ dismissed: true });
  expect(await onboarding(owner)).toMatchObject({ done: ['watch', 'finding', 'invite'], dismissed: true });
  // A viewer sees the step that a viewer can take, and has a list of their own.
  expect(await onboarding(key)).toEqual({ done: [], all: 1, dismissed: false, samples: 0 });
  await change({ dismissed: false });
  expect(await onboarding(owner)).toMatchObject({ done: ['watch', 'finding', 'invite'], dismissed: false });
  // A member of another account can't be named.
  const other = await testConsole.owner();
  await expect(change({ dismissed: true }, other.memberId)).rejects.toThrow(/foreign key/);
});

test('no step is shown that the member or the account cannot take', async () => {
  const owner = await testConsole.owner();
  const stepsOf = async (by: typeof owner) =>
    (await by.read<Onboarding>('/onboarding')).steps.map(({ id }) => id);
  const operator = await testConsole.member(owner.accountId, 'Olga', 'operator');
  expect(await stepsOf(operator)).toEqual(['watch', 'finding']);
  await store.writer.query(`update account set kind = 'individual' where account_id = $1`, [owner.accountId]);
  expect(await stepsOf(owner)).toEqual(['watch', 'notify', 'finding', 'key']);
});

test('sample data is removed in parts, and nothing else is', async () => {
  const owner = await testConsole.owner();
  const other = await testConsole.owner();
  await store.writer.query(sample, [owner.accountId, 120]);
  await store.writer.query(sample, [other.accountId, 3]);
  const remove = () => removeSampleConnections((work) => changeAccount(store.writer, owner.accountId, work));
  expect([await remove(), await remove(), await remove(), await remove()]).toEqual([70, 20, 0, 0]);
  expect(await onboarding(owner)).toMatchObject({ samples: 0 });
  expect(await onboarding(other)).toMatchObject({ samples: 3 });
});
