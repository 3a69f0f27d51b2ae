import { expect, test } from 'vitest';
import { mayGive, permissionsOf, permissionText, type Role } from './roles.ts';

const viewer: Role = {
  id: 'viewer',
  name: 'Viewer',
  description: '',
  permissions: ['tickets:read', 'health:read'],
};
const owner: Role = {
  id: 'owner',
  name: 'Owner',
  description: '',
  permissions: ['health:read', 'tickets:read', 'account:write', 'newer:thing'],
};

test('nobody can assign a role that allows more than their own', () => {
  expect(mayGive(['health:read', 'tickets:read'], viewer)).toBe(true);
  expect(mayGive(['health:read', 'tickets:read'], owner)).toBe(false);
  expect(mayGive(owner.permissions, owner)).toBe(true);
});

test('permissions are listed once, in the order of the pages, unknown ones last', () => {
  expect(permissionsOf([viewer, owner])).toEqual([
    'health:read',
    'tickets:read',
    'account:write',
    'newer:thing',
  ]);
  expect(permissionText('account:write')).toBe('Rename the account');
  expect(permissionText('newer:thing')).toBe('newer:thing');
});
