import type { Change } from '../../activity/record-entry.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { type Permission, permissionsOf } from '../../vocabulary/role-permissions.ts';
import type { Actor } from './actor.ts';
import { loginOf } from './login-of.ts';

// Members can't grant, revoke or manage permissions that they lack themselves, and keep an owner who can sign in. The
// operator's commands skip these two rules, but no change takes an account's last owner away.

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

/** Whether these permissions include everything that the roles allow. */
export function covers(permissions: ReadonlySet<Permission>, roles: readonly string[]): boolean {
  return [...permissionsOf(roles)].every((permission) => permissions.has(permission));
}

/** The fields of a member that the rules check. */
export interface Subject {
  roles: string[];
  status: 'active' | 'invited' | 'suspended';
  login_id: number | null;
  by_single_sign_on: boolean;
  version: string;
}

/** Changes whenever the member is edited, but not when they are active. */
export const versionOf = 'md5(row(m.name, m.email, m.roles, m.status)::text)';

const select = `
  select m.roles, m.status, m.login_id, ${versionOf} as version
    from member m
   where m.account_id = $1 and m.member_id = $2`;

/**
 * The current state of the member that `actor` wants to change. Throws 404 when there is none, and 403 when the member's
 * roles allow more than the actor's.
 */
export async function requireMayChange(change: Change, actor: Actor, id: number): Promise<Subject> {
  const { rows } = await change.client.query<Omit<Subject, 'by_single_sign_on'>>(select, [
    change.accountId,
    id,
  ]);
  const [subject] = rows;
  if (!subject) throw notFound();
  if (!covers(await permissionsNow(change, actor), subject.roles)) throw beyond;
  const by_single_sign_on = (await loginOf(change.client, subject.login_id))?.account_id === null;
  return { ...subject, by_single_sign_on };
}

/** Throws 403 when the roles allow more than the actor's roles. */
export async function requireMayGive(change: Change, actor: Actor, roles: readonly string[]): Promise<void> {
  if (!covers(await permissionsNow(change, actor), roles)) throw givingBeyond;
}

const selectRoles = 'select roles from member where account_id = $1 and member_id = $2';

// An owner may have demoted the actor to administrator since the request began.
async function permissionsNow(
  { client, accountId }: Change,
  { memberId }: Actor,
): Promise<ReadonlySet<Permission>> {
  const { rows } = await client.query<{ roles: string[] }>(selectRoles, [accountId, memberId]);
  return permissionsOf(rows[0]?.roles ?? []);
}

const owners = `
  select count(*)::int as active, count(login_id)::int as signing_in
    from member
   where account_id = $1 and status = 'active' and 'owner' = any (roles)`;

type Before = Pick<Subject, 'status' | 'roles' | 'login_id'>;

const isOwner = ({ status, roles }: Before) => status === 'active' && roles.includes('owner');

async function countOwners({ client, accountId }: Change): Promise<{ active: number; signing_in: number }> {
  return one(
    (await client.query<{ active: number; signing_in: number }>(owners, [accountId])).rows,
    'count owners',
  );
}

/** Throws 409 when the change of this member left the account without an owner. Every way in meets it. */
export async function requireOwner(change: Change, before: Before): Promise<void> {
  if (isOwner(before) && (await countOwners(change)).active === 0) throw noOwner;
}

/** Throws 409 when the change of this member left the account without an owner who can sign in. */
export async function requireOwnerWhoSignsIn(change: Change, before: Before): Promise<void> {
  if (!isOwner(before) || before.login_id === null) return;
  if ((await countOwners(change)).signing_in === 0) throw noOwner;
}

/** The maker of a stored link or invitation, as they are now. */
export interface Maker {
  /** Null = the operator. */
  id: number | null;
  /** Null = not an active member of the account any more. */
  roles: readonly string[] | null;
}

/** Whether the maker may still change a member with these roles. Ask when the link is used, under the account's lock. */
export function makerStillMay({ id, roles }: Maker, ofMember: readonly string[]): boolean {
  if (id === null) return true;
  const permissions = permissionsOf(roles ?? []);
  return permissions.has('members:write') && covers(permissions, ofMember);
}
