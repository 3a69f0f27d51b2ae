import { Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import { openSet } from '../http/fields.ts';
import { Meta, wholeMeta } from '../http/paging.ts';

/** What a role may allow. */
export type Permission =
  | 'health:read'
  | 'tickets:read'
  | 'connections:write'
  | 'checks:run'
  | 'activity:read'
  | 'members:read'
  | 'members:write'
  | 'keys:read'
  | 'keys:write'
  | 'account:read'
  | 'account:write';

const READ: Permission[] = ['health:read', 'tickets:read'];
const WATCH: Permission[] = [...READ, 'connections:write', 'checks:run'];
const GOVERN: Permission[] = [
  ...WATCH,
  ...(['activity:read', 'members:read', 'members:write', 'keys:read', 'keys:write'] as const),
];

/** The roles that there are; they are the same for every account. */
export const ROLES: { id: string; name: string; description: string; permissions: Permission[] }[] = [
  {
    id: 'owner',
    name: 'Owner',
    description: 'Everything, the account and its plan included',
    permissions: [...GOVERN, 'account:read', 'account:write'],
  },
  {
    id: 'admin',
    name: 'Administrator',
    description: 'Everything but changes of the account itself',
    permissions: [...GOVERN, 'account:read'],
  },
  {
    id: 'operator',
    name: 'Operator',
    description: 'Looks after connections and their health checks',
    permissions: WATCH,
  },
  {
    id: 'auditor',
    name: 'Auditor',
    description: 'Reads everything, changes nothing',
    permissions: [...READ, 'activity:read', 'members:read', 'keys:read', 'account:read'],
  },
  { id: 'viewer', name: 'Viewer', description: 'Reads health and tickets', permissions: READ },
];

/** What a member with these roles may do: all that any of them allows. */
export function permissionsOf(roles: readonly string[]): ReadonlySet<Permission> {
  return new Set(ROLES.filter(({ id }) => roles.includes(id)).flatMap(({ permissions }) => permissions));
}

const Role = Type.Object(
  {
    id: openSet(
      ROLES.map(({ id }) => id),
      'role identifier',
    ),
    name: Type.String({ description: 'human-readable name' }),
    description: Type.String({ description: 'purpose of the role' }),
    permissions: Type.Array(
      openSet([...new Set(ROLES.flatMap(({ permissions }) => permissions))].sort(), 'permission of the role'),
      { description: 'permissions of the role' },
    ),
  },
  { title: 'Role', description: 'a role and its permissions' },
);

/** Endpoint 8: all roles with their permission sets. */
export const roles = endpoint({
  path: '/team/roles',
  operationId: 'listRoles',
  summary: 'Roles with their permissions',
  description: 'The complete list, without pages. It is the same for every account.',
  query: Type.Object({}),
  response: Type.Object({ data: Type.Array(Role), meta: Meta }),
  reuse: 'kept',
  answer: async () => ({ body: { data: ROLES, meta: wholeMeta(ROLES.length) } }),
});
