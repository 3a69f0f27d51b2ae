import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { hashToken } from '../../platform/token.ts';
import type { ConsoleStores } from '../../store/directory/console-stores.ts';
import type { LinkPurpose } from '../members/add-link.ts';
import { foldEmail } from '../members/email.ts';
import { makerStillMay } from '../members/member-rules.ts';
import { type Person, personOf } from './sessions.ts';
import type { SignInRequest } from './sign-in-request.ts';

const find = `
  select k.account_id, k.purpose, k.member_id, k.created_by, a.name as account_name, m.email, m.name, m.login_id,
         m.roles, c.roles as maker_roles
    from link k
    join account a on a.account_id = k.account_id
    left join member m on m.account_id = k.account_id and m.member_id = k.member_id
    left join member c on c.account_id = k.account_id and c.member_id = k.created_by and c.status = 'active'
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
  /** Null for the purpose owner. */
  roles: string[] | null;
  /** Null = the operator made the link, or its maker is no active member any more. */
  maker_roles: string[] | null;
}

/** The link of a token in one store, if its maker could still make it; none for any other token. */
async function findIn(client: pg.ClientBase | pg.Pool, token: string): Promise<LinkRow[]> {
  const { rows } = await client.query<LinkRow>(find, [hashToken(token)]);
  return rows.filter((link) =>
    makerStillMay({ id: link.created_by, roles: link.maker_roles }, link.roles ?? []),
  );
}

/** Finds a valid link; throws 404 for any other. */
export async function findLink(stores: ConsoleStores, token: string): Promise<LinkRow> {
  const [link] = await stores.inEach(({ writer }) => findIn(writer, token));
  if (link === undefined) throw gone;
  return link;
}

const use = 'update link set used_at = clock_timestamp() where account_id = $1 and token_hash = $2';

/** Uses a link up, after judging it again under the account's lock. Throws 404. */
export async function spendLink({ client, accountId }: Change, token: string): Promise<void> {
  const [link] = await findIn(client, token);
  if (link?.account_id !== accountId) throw gone;
  await client.query(use, [accountId, hashToken(token)]);
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
