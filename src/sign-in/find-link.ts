import type { ConsoleStores } from '../cells/console-stores.ts';
import type { LinkPurpose } from '../members/add-link.ts';
import { foldEmail } from '../members/email.ts';
import { hashToken } from '../members/token.ts';
import { Rejection } from '../vocabulary/rejection.ts';
import { type Person, personOf } from './sessions.ts';
import type { SignInRequest } from './sign-in-request.ts';

const find = `
  select k.account_id, k.purpose, k.member_id, k.created_by, a.name as account_name, m.email, m.name, m.login_id
    from link k
    join account a on a.account_id = k.account_id
    left join member m on m.account_id = k.account_id and m.member_id = k.member_id
   where k.token_hash = $1
     and k.used_at is null
     and k.expires_at > clock_timestamp()
     and m.status is distinct from 'suspended'`;

export const gone = new Rejection(
  'not_found',
  'This link was already used, has expired or was replaced by a newer one. Ask for a new link.',
);
/** A valid link. */
export interface LinkRow {
  account_id: number;
  purpose: LinkPurpose;
  member_id: number | null;
  created_by: number | null;
  account_name: string;
  email: string | null;
  name: string | null;
  login_id: number | null;
}

/** Finds a valid link; throws 404 for any other. */
export async function findLink(stores: ConsoleStores, token: string): Promise<LinkRow> {
  const [link] = await stores.inEach(
    async ({ writer }) => (await writer.query<LinkRow>(find, [hashToken(token)])).rows,
  );
  if (link === undefined) throw gone;
  return link;
}

/** The person who signed in recently with single sign-on and the link's address; else null. */
export async function invitedPerson(
  { parts, caller }: Pick<SignInRequest, 'parts' | 'caller'>,
  { purpose, email }: LinkRow,
): Promise<Person | null> {
  const person = await personOf(parts.control, caller.sessionToken);
  if (purpose !== 'invitation' || email === null || !person?.isRecent || person.provedEmail === null)
    return null;
  return foldEmail(person.provedEmail) === foldEmail(email) ? person : null;
}
