import type { Change } from '../activity/record-entry.ts';
import { notFound, Rejection } from '../vocabulary/rejection.ts';
import { type Permission, permissionsOf } from '../vocabulary/role-permissions.ts';
import type { Actor } from './actor.ts';
import { loginOf } from './login-of.ts';

// Members can't grant, revoke or manage permissions that they lack themselves, and every account keeps an owner who can
// sign in. The operator's commands skip both rules.

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
    ...[change.accountId, id],
  ]);
  const [subject] = rows;
  if (!subject) throw notFound;
  if (!covers(await permissionsNow(change, actor), subject.roles)) throw beyond;
  const by_single_sign_on = (await loginOf(change.client, subject.login_id))?.account_id === null;
  return { ...subject, by_single_sign_on };
}

/** Throws 403 when the roles allow more than the actor's roles. */
export async function requireMayGive(change: Change, actor: Actor, roles: readonly string[]): Promise<void> {
  if (!covers(await permissionsNow(change, actor), roles)) throw givingBeyond;
}

const rolesOf = 'select roles from member where account_id = $1 and member_id = $2';

// An owner may have demoted the actor to administrator since the request began.
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

/** Throws 409 when changing an owner leaves the account without an owner who can sign in. */
export async function requireOwner(
  { client, accountId }: Change,
  { status, roles, login_id }: Subject,
): Promise<void> {
  if (status !== 'active' || login_id === null || !roles.includes('owner')) return;
  const { rowCount } = await client.query(owners, [accountId]);
  if (rowCount === 0) throw noOwner;
}
