/** What a role may allow. */
export type Permission =
  | 'health:read'
  | 'tickets:read'
  | 'connections:write'
  | 'checks:run'
  | 'checks:write'
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
  'checks:write',
  'activity:read',
  'members:read',
  'members:write',
  'keys:read',
  'keys:write',
];

/** All roles. They are the same for every account. */
export const ROLES = [
  role('owner', 'Owner', 'Everything, the account and its plan included', [
    ...GOVERN,
    'account:read',
    'account:write',
  ]),
  role('admin', 'Administrator', 'Everything but changes of the account itself', [...GOVERN, 'account:read']),
  role('operator', 'Operator', 'Looks after connections and their health checks', WATCH),
  role('auditor', 'Auditor', 'Reads everything, changes nothing', [
    ...READ,
    'activity:read',
    'members:read',
    'keys:read',
    'account:read',
  ]),
  role('viewer', 'Viewer', 'Reads health and tickets', READ),
];

export type RoleId = (typeof ROLES)[number]['id'];

export const ROLE_IDS = ROLES.map(({ id }) => id);

function role<const Id extends string>(id: Id, name: string, description: string, permissions: Permission[]) {
  return { id, name, description, permissions };
}

/** The permissions of a member with these roles: everything that any of them allows. */
export function permissionsOf(roles: readonly string[]): ReadonlySet<Permission> {
  return new Set(ROLES.filter(({ id }) => roles.includes(id)).flatMap(({ permissions }) => permissions));
}
