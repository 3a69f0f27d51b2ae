import type { Change } from '../activity/record-entry.ts';
import { notFound, Rejection } from '../vocabulary/rejection.ts';
import { type Permission, permissionsOf } from '../vocabulary/role-permissions.ts';
import type { Actor } from './actor.ts';

// Who may do what to whom: nobody gives, takes or acts on what they may not do themselves, and an account always has an
// owner who can sign in. The commands are the operator's, and bound by neither.

const beyond = new Rejection(
  'forbidden',
  "This member's roles allow more than yours. Ask an owner of the account.",
);
const givingBeyond = new Rejection(
  'forbidden',
  'You cannot assign a role that allows more than your own roles. Ask an owner of the account.',
);
const noOwner = new Rejection(
  'conflict',
  'The account would have no owner who can sign in. Make someone else an owner first.',
);

/** Whether who has these permissions has all that the roles allow. */
export function covers(permissions: ReadonlySet<Permission>, roles: readonly string[]): boolean {
  return [...permissionsOf(roles)].every((permission) => permissions.has(permission));
}

/** A member as the rules see them. */
export interface Subject {
  roles: string[];
  status: 'active' | 'invited' | 'suspended';
  login_id: number | null;
  by_single_sign_on: boolean;
  version: string;
}

/** What tells whether a member was changed since they were read: not when they were active last. */
export const versionOf = 'md5(row(m.name, m.email, m.roles, m.status)::text)';

const select = `
  select m.roles, m.status, m.login_id, l.oidc_issuer is not null as by_single_sign_on, ${versionOf} as version
    from member m
    left join login l on l.login_id = m.login_id
   where m.account_id = $1 and m.member_id = $2`;

/**
 * The member that `actor` wants to change, as they are now. Throws 404 when there is none, 403 when their roles allow what
 * those of the actor do not.
 */
export async function requireMayChange(change: Change, actor: Actor, id: number): Promise<Subject> {
  const [subject] = (await change.client.query<Subject>(select, [change.accountId, id])).rows;
  if (!subject) throw notFound;
  if (!covers(await permissionsNow(change, actor), subject.roles)) throw beyond;
  return subject;
}

/** Throws 403 when the roles allow what those of the actor do not. */
export async function requireMayGive(change: Change, actor: Actor, roles: readonly string[]): Promise<void> {
  if (!covers(await permissionsNow(change, actor), roles)) throw givingBeyond;
}

const rolesOf = 'select roles from member where account_id = $1 and member_id = $2';

// An owner may have made an administrator of the actor since the request began.
async function permissionsNow(
  { client, accountId }: Change,
  { memberId }: Actor,
): Promise<ReadonlySet<Permission>> {
  const { rows } = await client.query<{ roles: string[] }>(rolesOf, [accountId, memberId]);
  return permissionsOf(rows[0]?.roles ?? []);
}

const owners = `
  select from member
   where account_id = $1 and status = 'active' and login_id is not null and 'owner' = any (roles)
   limit 1`;

/** Throws 409 when the change of a member who was an owner left the account without one who can sign in. */
export async function requireOwner(
  { client, accountId }: Change,
  { status, roles, login_id }: Subject,
): Promise<void> {
  if (status !== 'active' || login_id === null || !roles.includes('owner')) return;
  const { rowCount } = await client.query(owners, [accountId]);
  if (rowCount === 0) throw noOwner;
}
