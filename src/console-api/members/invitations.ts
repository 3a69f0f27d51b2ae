import { acceptInvitation, declineInvitation } from '../../accounts/members/answer-invitation.ts';
import { noOffersTo, type OfferSources, offersTo } from '../../accounts/members/find-offers.ts';
import { proofNeeded, signedOut } from '../../accounts/sign-in/session-rejections.ts';
import { type Person, personOf } from '../../accounts/sign-in/sessions.ts';
import { identifier } from '../../platform/schema/fields.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

/** The accounts that invited an address verified by an identity provider. The person accepts or declines each. */
export const Invitations = Type.Object({
  data: Type.Array(
    Type.Object({
      account_id: identifier('account'),
      account_name: Type.String(),
      roles: Type.Array(Type.String()),
      /** The member already signs in with a password, which accepting ends. It can't be declined here. */
      joined: Type.Boolean(),
    }),
  ),
  /** Whether the session belongs to an account. */
  acts: Type.Boolean(),
});
export type Invitations = Static<typeof Invitations>;

async function requirePerson({ parts, caller }: ConsoleRequest): Promise<Person> {
  const person = await personOf(parts.control, caller.sessionToken);
  if (person === null) throw signedOut;
  return person;
}

const list = openRoute({
  method: 'GET',
  path: '/invitations',
  permission: 'anyone',
  response: Invitations,
  async handler(asked) {
    const person = await requirePerson(asked);
    const { control, stores } = asked.parts;
    const inEach: OfferSources['inEach'] = (find) => stores.inEach(({ writer }) => find(writer));
    const acts = person.accountId !== null;
    const offers = await offersTo({ control, inEach }, person).catch(noOffersTo(acts));
    const data = offers.map(({ account_id, account_name, roles, joined }) => ({
      account_id,
      account_name,
      roles,
      joined,
    }));
    return { data, acts };
  },
});

const accept = openRoute({
  method: 'POST',
  path: '/invitations/:id/accept',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    const person = await requirePerson(asked);
    if (!person.isRecent) throw proofNeeded;
    await acceptInvitation(asked.parts, asked.id, { ...asked.caller, ...person });
  },
});

const decline = openRoute({
  method: 'POST',
  path: '/invitations/:id/decline',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    const person = await requirePerson(asked);
    await declineInvitation(asked.parts, asked.id, { ...asked.caller, ...person });
  },
});

/** The routes for invitations to a verified address. */
export const invitationRoutes: ConsoleRoute[] = [list, accept, decline];
