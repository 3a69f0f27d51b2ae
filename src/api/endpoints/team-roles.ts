import { endpoint } from '../../http/endpoint.ts';
import { Meta, wholeMeta } from '../../http/paging.ts';
import { openSet } from '../../platform/schema/fields.ts';
import { Type } from '../../platform/schema/schema.ts';
import { ROLE_IDS, ROLES } from '../../vocabulary/role-permissions.ts';

const Role = Type.Object(
  {
    id: openSet(ROLE_IDS, 'role identifier'),
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
