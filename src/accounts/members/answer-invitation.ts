import type pg from 'pg';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { hashToken } from '../../platform/token.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import type { ChangeInTurn, ConsoleStores } from '../../store/directory/console-stores.ts';
import { type Offer, type OfferSources, offersTo } from './find-offers.ts';
import { joinAs } from './join-as.ts';
import { removeMember } from './remove-member.ts';

/** A person who answers an account's invitation. */
export interface Invitee {
  loginId: number;
  provedEmail: string | null;
  address: string;
  userAgent: string;
  sessionToken: string | null;
}

/** The control store as the writer, and the stores of accounts. */
interface InvitationStores {
  control: pg.Pool;
  stores: ConsoleStores;
  inTurn: ChangeInTurn;
}

const findIn =
  (client: pg.ClientBase): OfferSources['inEach'] =>
  (find) =>
    find(client);

/** Answers an invitation, after checking it again under the account's lock. */
async function answer(
  { control, stores, inTurn }: InvitationStores,
  accountId: number,
  invitee: Invitee,
  work: (change: Change, offer: Offer) => Promise<void>,
): Promise<void> {
  const { writer } = await stores.of(accountId);
  const offers = await offersTo({ control, inEach: (find) => find(writer) }, invitee, accountId);
  if (offers.length === 0) throw notFound();
  await inTurn(writer, accountId, () =>
    changeAccount(writer, accountId, async (change) => {
      const now = { control: await controlOf(change.client), inEach: findIn(change.client) };
      const [offer] = await offersTo(now, invitee, accountId);
      if (offer === undefined) throw notFound();
      const record: Change['record'] = (actionType, pagePath, properties) =>
        change.record(actionType, pagePath, {
          ...properties,
          actor_member_id: offer.member_id,
          actor_name: offer.name,
          source_ip: invitee.address,
        });
      await work({ ...change, record }, offer);
    }),
  );
}

const actThere = 'update session set account_id = $2 where token_hash = $1 and account_id is null';

/** Links the person's login to the invited member, and moves their session to the account. Throws 404. */
export function acceptInvitation(from: InvitationStores, accountId: number, invitee: Invitee): Promise<void> {
  return answer(from, accountId, invitee, async (change, { member_id, name, login_id }) => {
    const member = await joinAs(change, { memberId: member_id, loginId: invitee.loginId, before: login_id });
    if (member === null) throw notFound();
    change.record('member_changed', '/sign-in', { member_id, ...member, changed: ['login'], by: 'oidc' });
    const { rowCount } = await (await controlOf(change.client)).query(actThere, [
      hashToken(invitee.sessionToken ?? ''),
      change.accountId,
    ]);
    if (rowCount === 0) return;
    const { userAgent: user_agent } = invitee;
    change.record('member_signed_in', '/sign-in', { member_id, name, by: 'oidc', user_agent });
  });
}

/** Removes the invited member. Throws 404, also when the member already signs in in another way. */
export function declineInvitation(
  from: InvitationStores,
  accountId: number,
  invitee: Invitee,
): Promise<void> {
  return answer(from, accountId, invitee, async (change, { member_id, login_id }) => {
    if (login_id !== null) throw notFound();
    await removeMember(change, member_id, { declined: true });
  });
}
