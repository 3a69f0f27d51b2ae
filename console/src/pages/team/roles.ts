import { queryOptions } from '@tanstack/react-query';
import type { Member } from '../../../../src/console-api/members/member-routes.ts';
import { get } from '../../api.ts';

export type RoleId = Member['roles'][number];

/** As endpoint 8 has them. */
export interface Role {
  id: RoleId;
  name: string;
  description: string;
  permissions: string[];
}

/** All roles; they are the same in every account, and any member may read them. */
export const rolesQuery = queryOptions({
  queryKey: ['roles'],
  queryFn: async ({ signal }) => (await get<{ data: Role[] }>('/read/team/roles', {}, signal)).data,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Whether a member with `permissions` may assign a role: it must not allow more than they have. */
export function mayGive(permissions: readonly string[], role: Role): boolean {
  return role.permissions.every((permission) => permissions.includes(permission));
}

/** In the order of the console's pages. */
const WORDS: Record<string, string> = {
  'health:read': 'See connections, scores and findings',
  'tickets:read': 'See tickets',
  'connections:write': 'Add, change and remove connections, silence findings',
  'checks:run': 'Run a health check now',
  'checks:write': 'Try, add, change and remove own checks',
  'activity:read': 'Read, follow and export the activity log',
  'keys:read': 'See API keys and their requests',
  'keys:write': 'Create, regenerate and revoke API keys',
  'members:read': 'See who is in the team',
  'members:write': 'Invite, change and remove members',
  'account:read': 'See plan and limits',
  'account:write': 'Rename the account',
};

/** The label of a permission; its id for permissions that a newer service adds. */
export function permissionText(permission: string): string {
  return WORDS[permission] ?? permission;
}

/** All permissions that any role has. */
export function permissionsOf(roles: readonly Role[]): string[] {
  const given = new Set(roles.flatMap(({ permissions }) => permissions));
  return [...new Set([...Object.keys(WORDS).filter((known) => given.has(known)), ...given])];
}
