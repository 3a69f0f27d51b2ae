import { expect, test } from 'vitest';
import { mayGive, permissionsOf, permissionText, type Role } from './roles.ts';

const viewer: Role = {
  id: 'viewer',
  name: 'Viewer',
  description: '',
  permissions: ['tickets:read', 'health:read'],
};
const owner: Role = {
  ...{ id: 'owner', name: 'Owner', description: '' },
  permissions: ['health:read', 'tickets:read', 'account:write', 'newer:thing'],
};

test('nobody gives a role that allows more than their own', () => {
  expect(mayGive(['health:read', 'tickets:read'], viewer)).toBe(true);
  expect(mayGive(['health:read', 'tickets:read'], owner)).toBe(false);
  expect(mayGive(owner.permissions, owner)).toBe(true);
});

test('permissions stand once, in the order of the pages, and what a newer service knows comes last', () => {
  expect(permissionsOf([viewer, owner])).toEqual([
    'health:read',
    'tickets:read',
    'account:write',
    'newer:thing',
  ]);
  expect(permissionText('account:write')).toBe('Rename the account');
  expect(permissionText('newer:thing')).toBe('newer:thing');
});
