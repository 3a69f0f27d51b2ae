import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { hashToken, newToken } from '../../platform/token.ts';
import { one } from '../../store/one.ts';
import type { Actor } from './actor.ts';
import { loginOf } from './login-of.ts';
import { requireMayChange } from './member-rules.ts';

/** The purpose of a one-time link: become an owner of the account, join it as an invited member, or set a new password. */
export type LinkPurpose = 'owner' | 'invitation' | 'reset';

/** A new link. Its address `<origin>/link/<token>` is shown only once. */
export interface NewLink {
  token: string;
  expires_at: Date;
}

/** How long a link is valid, in seconds. An invitation lasts longest, because it waits for another person. */
const LIFETIME: Record<LinkPurpose, number> = { owner: 86_400, invitation: 7 * 86_400, reset: 86_400 };

// Only a member's newest link is valid.
const insert = `
  with older as (
    update link set used_at = clock_timestamp()
     where account_id = $1 and member_id = $4 and used_at is null
  )
  insert into link (account_id, token_hash, purpose, member_id, created_by, expires_at)
  values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6))
  returning expires_at`;

/** Creates a one-time link. `memberId` is null only for the purpose `owner`; `createdBy` is a member, null = the operator. */
export async function addLink<Purpose extends LinkPurpose>(
  { client, accountId, record }: Change,
  wanted: { purpose: Purpose; memberId: number | null; createdBy: number | null },
): Promise<NewLink & { purpose: Purpose }> {
  const { purpose, memberId, createdBy } = wanted;
  const token = newToken();
  const { rows } = await client.query<{ expires_at: Date }>(insert, [
    accountId,
    hashToken(token),
    purpose,
    memberId,
    createdBy,
    LIFETIME[purpose],
  ]);
  const { expires_at } = one(rows, 'store a link');
  if (purpose === 'invitation') await client.query(vouch, [accountId, memberId, createdBy]);
  record('link_created', '/team', { member_id: memberId, purpose, expires_at });
  return { token, expires_at, purpose };
}

const find = `
  select login_id from member where account_id = $1 and member_id = $2`;

/** {@link addLink} by the operator, for a member; null = for a new owner. */
export async function addOperatorLink(
  change: Change,
  memberId: number | null,
): Promise<NewLink & { purpose: LinkPurpose }> {
  if (memberId === null) return addLink(change, { purpose: 'owner', memberId, createdBy: null });
  const { client, accountId } = change;
  const { rows } = await client.query<{ login_id: number | null }>(find, [accountId, memberId]);
  const [member] = rows;
  if (member === undefined) throw new Error(`Account ${accountId} has no member ${memberId}.`);
  const hasOwnLogin = ((await loginOf(client, member.login_id))?.account_id ?? null) !== null;
  const purpose = hasOwnLogin ? 'reset' : 'invitation';
  return addLink(change, { purpose, memberId, createdBy: null });
}

/** {@link addLink} by a member: an invitation if the other member has not joined yet, else a link to set a new password. */
export async function addLinkAs(
  change: Change,
  actor: Actor,
  memberId: number,
): Promise<NewLink & { purpose: 'invitation' | 'reset' }> {
  const { status, login_id, by_single_sign_on } = await requireMayChange(change, actor, memberId);
  if (memberId === actor.memberId) {
    throw new Rejection('conflict', 'This is you. Change your password under “Sign-in and sessions”.');
  }
  if (status === 'suspended') {
    throw new Rejection('conflict', 'This member is suspended. Reactivate them first.');
  }
  if (by_single_sign_on) {
    throw new Rejection(
      'conflict',
      'This member signs in with single sign-on. Your identity provider manages their password.',
    );
  }
  const purpose = login_id === null ? 'invitation' : 'reset';
  return addLink(change, { purpose, memberId, createdBy: actor.memberId });
}

const vouch =
  'update member set invited_by = $3 where account_id = $1 and member_id = $2 and login_id is null';

const end = `
  update link set used_at = clock_timestamp()
   where account_id = $1 and member_id = $2 and used_at is null`;

/** Invalidates the links for a member. */
export async function endLinks({ client, accountId }: Change, memberId: number): Promise<void> {
  await client.query(end, [accountId, memberId]);
}

const endBy = `
  update link set used_at = clock_timestamp()
   where account_id = $1 and created_by = $2 and used_at is null`;

/** Invalidates the links that a member created. */
export async function endLinksBy({ client, accountId }: Change, makerId: number): Promise<void> {
  await client.query(endBy, [accountId, makerId]);
}
