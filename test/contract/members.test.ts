import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { read } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import { integer, type List, type Member, time } from './records.ts';

const PATH = '/api/v1/team/members';

function add(accountId: number, name: string, email: string, role: string): Promise<Member> {
  const options = ['--account', String(accountId), '--name', name, '--email', email, '--role', role];
  return fixtureJson(['member', 'add', ...options]);
}

test('200: the members with their roles, by id, whole', async () => {
  const { id, key } = await makeAccount();
  const ada = await add(id, 'Ada Lovelace', 'ada@example.com', 'admin');
  const grace = await add(id, 'Grace Hopper', 'grace@example.com', 'auditor');
  const members = await read<List<Member>>(PATH, key);
  expect(members).toEqual({
    data: [ada, grace],
    meta: { total: 2, page: 1, per_page: 2, has_more: false },
  });
  expect(ada).toEqual({
    id: integer,
    name: 'Ada Lovelace',
    email: 'ada@example.com',
    roles: ['admin'],
    status: expect.stringMatching(/^(active|invited|suspended)$/),
    joined_at: time,
    last_active_at: null,
  });
  expect(grace.id).toBeGreaterThan(ada.id);

  await fixtureJson(['member', 'change', String(grace.id), '--role', 'viewer']);
  await fixtureJson(['member', 'remove', String(ada.id)]);
  expect(await read(PATH, key)).toEqual({
    data: [{ ...grace, roles: ['viewer'] }],
    meta: { total: 1, page: 1, per_page: 1, has_more: false },
  });
});

test('200: a company account without members', async () => {
  const { key } = await makeAccount();
  expect(await read(PATH, key)).toEqual({
    data: [],
    meta: { total: 0, page: 1, per_page: 1, has_more: false },
  });
});

test('200: an individual account has an empty list, whatever its plan and members', async () => {
  const { id, key } = await makeAccount({ kind: 'individual', plan: 'enterprise' });
  await add(id, 'Ada Lovelace', 'ada@example.com', 'owner');
  expect(await read(PATH, key)).toEqual({
    data: [],
    meta: { total: 0, page: 1, per_page: 1, has_more: false },
  });
});
