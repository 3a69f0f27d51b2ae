import type pg from 'pg';
import { type Change, changeAccount } from '../activity/record-entry.ts';
import { notFound } from '../vocabulary/rejection.ts';
import { type Offer, offersTo } from './find-offers.ts';
import { joinAs } from './join-as.ts';
import { removeMember } from './remove-member.ts';
import { hashToken } from './token.ts';

/** A person who answers an account's invitation. */
export interface Invitee {
  loginId: number;
  provedEmail: string | null;
  address: string;
  userAgent: string;
  sessionToken: string | null;
}

/** Answers an invitation, after checking it again under the account's lock. */
async function answer(
  writer: pg.Pool,
  accountId: number,
  invitee: Invitee,
  work: (change: Change, offer: Offer) => Promise<void>,
): Promise<void> {
  if ((await offersTo(writer, invitee, accountId)).length === 0) throw notFound;
  await changeAccount(writer, accountId, async (change) => {
    const [offer] = await offersTo(change.client, invitee, accountId);
    if (offer === undefined) throw notFound;
    const record: Change['record'] = (actionType, pagePath, properties) =>
      change.record(actionType, pagePath, {
        ...properties,
        ...{ actor_member_id: offer.member_id, actor_name: offer.name, source_ip: invitee.address },
      });
    await work({ ...change, record }, offer);
  });
}

const actThere = 'update session set account_id = $2 where token_hash = $1 and account_id is null';

/** Links the person's login to the invited member, and moves their session to the account. Throws 404. */
export function acceptInvitation(writer: pg.Pool, accountId: number, invitee: Invitee): Promise<void> {
  return answer(writer, accountId, invitee, async (change, { member_id, name, login_id }) => {
    const member = await joinAs(change, { memberId: member_id, loginId: invitee.loginId, before: login_id });
    if (member === null) throw notFound;
    change.record('member_changed', '/sign-in', { member_id, ...member, changed: ['login'], by: 'oidc' });
    const { rowCount } = await change.client.query(actThere, [
      hashToken(invitee.sessionToken ?? ''),
      change.accountId,
    ]);
    if (rowCount === 0) return;
    const { userAgent: user_agent } = invitee;
    change.record('member_signed_in', '/sign-in', { member_id, name, by: 'oidc', user_agent });
  });
}

/** Removes the invited member. Throws 404, also when the member already signs in with a password. */
export function declineInvitation(writer: pg.Pool, accountId: number, invitee: Invitee): Promise<void> {
  return answer(writer, accountId, invitee, async (change, { member_id, joined }) => {
    if (joined) throw notFound;
    await removeMember(change, member_id, { declined: true });
  });
}
