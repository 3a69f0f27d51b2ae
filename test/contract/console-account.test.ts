import { expect, test } from 'vitest';
import { makeKey, makeKeylessAccount, type Plan } from './account.ts';
import { readLog } from './activity-log.ts';
import { signInAs } from './browser.ts';
import { fixtureJson } from './fixture-command.ts';
import { time } from './records.ts';

interface Account {
  id: number;
  name: string;
  plan: string;
  requests_per_minute: number;
  own_limit: boolean;
  includes: string[];
  version: number;
}

const plans: [Plan, number, string[]][] = [
  ['individual', 0, []],
  ['team', 30, ['health']],
  ['business', 60, ['health', 'ops']],
];

test.each(plans)('the plan %s: %i requests a minute, reaching %j', async (plan, limit, includes) => {
  const id = await makeKeylessAccount({ plan });
  const auditor = await signInAs(id, ['auditor']);
  expect(await auditor.get<Account>('/account')).toEqual({
    id,
    name: 'Contract suite',
    kind: 'company',
    plan,
    includes,
    created_at: time,
    requests_per_minute: limit,
    own_limit: false,
    version: 1,
  });
});

test('an account can have its own request limit', async () => {
  const id = await makeKeylessAccount({ requestsPerMinute: 250 });
  const admin = await signInAs(id, ['admin']);
  expect(await admin.get<Account>('/account')).toMatchObject({
    plan: 'enterprise',
    requests_per_minute: 250,
    own_limit: true,
    includes: ['health', 'ops', 'activity', 'team'],
  });
});

test('an owner can rename the account and is logged; an administrator cannot', async () => {
  const id = await makeKeylessAccount();
  const [owner, admin] = [await signInAs(id, ['owner']), await signInAs(id, ['admin'])];
  const { version } = await owner.get<Account>('/account');
  expect((await admin.ask('PATCH', '/account', { version, name: 'Acme' })).status).toBe(403);
  const renamed = await owner.change<Account>('PATCH', '/account', { version, name: ' Acme Ltd ' });
  expect(renamed).toMatchObject({ id, name: 'Acme Ltd', version: version + 1 });
  expect(await admin.get('/me')).toMatchObject({ account: { name: 'Acme Ltd' } });
  const { key } = await makeKey(id, 'reader');
  const told = (await readLog(key)).findLast(({ action_type }) => action_type === 'account_changed');
  expect(told).toMatchObject({
    page_path: '/account',
    properties: { name: 'Acme Ltd', actor_member_id: owner.memberId, actor_name: 'Test owner' },
  });
});

test('the later of two renames gets a conflict that names the first, also from the command line', async () => {
  const id = await makeKeylessAccount();
  const [one, other] = [await signInAs(id, ['owner']), await signInAs(id, ['owner'])];
  const { version } = await one.get<Account>('/account');
  await one.change('PATCH', '/account', { version, name: 'Acme' });
  const later = await other.ask('PATCH', '/account', { version, name: 'Ajax' });
  expect(later.status).toBe(409);
  expect(later.json()).toMatchObject({
    error: { message: expect.stringMatching(/^Test owner changed it after you opened it\./) },
  });
  const now = await other.get<Account>('/account');
  expect(now.name).toBe('Acme');

  await fixtureJson(['account', 'change', String(id), '--plan', 'team']);
  const third = await other.ask('PATCH', '/account', { version: now.version, name: 'Ajax' });
  expect(third.status).toBe(409);
  expect(third.json()).toMatchObject({ error: { message: expect.stringMatching(/command line/) } });
  expect(await other.get('/account')).toMatchObject({ name: 'Acme', plan: 'team' });
});

test.each([
  ['name', { version: 1 }],
  ['name', { version: 1, name: '' }],
  ['name', { version: 1, name: 'x'.repeat(201) }],
  ['name', { version: 1, name: 'a\ud800' }],
  ['version', { name: 'Acme' }],
  ['version', { version: '1', name: 'Acme' }],
  ['plan', { version: 1, name: 'Acme', plan: 'enterprise' }],
])('400 names %s (%#)', async (parameter, body) => {
  const owner = await signInAs(await makeKeylessAccount(), ['owner']);
  const answer = await owner.ask('PATCH', '/account', body);
  expect(answer.status).toBe(400);
  expect(answer.json()).toMatchObject({ error: { code: 'invalid_parameter', parameter } });
  expect((await owner.get<Account>('/account')).version).toBe(1);
});
