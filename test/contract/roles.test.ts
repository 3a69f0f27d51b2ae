import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask, read } from './ask.ts';
import type { List, Role } from './records.ts';

const PATH = '/api/v1/team/roles';

test('200: the five roles with their permission sets, the same for every account', async () => {
  const company = await makeAccount();
  const individual = await makeAccount({ kind: 'individual' });
  const roles = await read<List<Role>>(PATH, company.key);
  expect(roles.meta).toEqual({ total: 5, page: 1, per_page: 5, has_more: false });
  expect(roles.data.map(({ id }) => id).toSorted()).toEqual([
    'admin',
    'auditor',
    'operator',
    'owner',
    'viewer',
  ]);
  for (const role of roles.data) {
    expect(role).toEqual({
      id: expect.any(String),
      name: expect.stringMatching(/\S/),
      description: expect.stringMatching(/\S/),
      permissions: expect.any(Array),
    });
    for (const permission of role.permissions) expect(permission).toMatch(/^[a-z_]+:[a-z_]+$/);
    expect(new Set(role.permissions).size).toBe(role.permissions.length);
  }
  const permissions = (id: string) => roles.data.find((role) => role.id === id)?.permissions ?? [];
  expect(permissions('owner')).toEqual(expect.arrayContaining(['health:read', 'keys:write']));
  expect(permissions('owner')).toEqual(expect.arrayContaining(permissions('viewer')));
  expect((await ask(PATH, { key: individual.key })).bytes).toEqual(
    (await ask(PATH, { key: company.key })).bytes,
  );
});
