import pg from 'pg';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { controlOf } from '../../store/cells/control-store.ts';
import { one } from '../../store/one.ts';
import { joinAs } from '../members/join-as.ts';
import { gone, invitedPerson, type LinkRow, spendLink } from './find-link.ts';
import type { PasswordLogin } from './known-device.ts';
import { newPassword } from './new-password.ts';
import type { Person } from './sessions.ts';
import type { SignInRequest } from './sign-in-request.ts';

// The page of a link, for log entries; the rest of its path is the secret.
const PAGE = '/link';

const insertLogin = `
  insert into login (account_id, email, name, password) values ($1, $2, $3, $4)
  returning login_id`;

const insertOwner = `
  insert into member (account_id, name, email, roles, status, joined_at, login_id)
  values ($1, $2, $3, array['owner'], 'active', $4, $5)
  returning member_id`;

const loginNow = 'select login_id from member where account_id = $1 and member_id = $2';
const setPassword = 'update login set password = $3 where account_id = $1 and login_id = $2';
const endSessions = 'delete from session where login_id = $1';

const taken = new Rejection(
  'conflict',
  'The account already has a member with this e-mail address. Ask for a link for that member.',
);

/** The input of the person who opens a link. */
export interface LinkInput {
  name?: string | undefined;
  /** Gives a field; throws 400 where it is absent. Which fields a link needs depends on its purpose. */
  required(field: 'name' | 'email' | 'password'): string;
}

/** The person who opened a link: with a new password, or with single sign-on. */
export interface Opened {
  loginId: number;
  password: PasswordLogin | null;
  person: Person | null;
}

/** Sets a new password and ends all sessions with the old one. */
export async function resetPassword(
  asked: Pick<SignInRequest, 'parts' | 'caller'>,
  link: LinkRow,
  token: string,
  given: LinkInput,
): Promise<Opened> {
  const { login_id, account_id, account_name, member_id, email } = link;
  if (login_id === null || email === null) throw gone;
  const about = { about: [link.name, account_name], parameter: 'password' };
  const password = await newPassword(asked.parts, email, given.required('password'), about);
  const { writer } = await asked.parts.stores.of(account_id);
  await asked.parts.inTurn(writer, account_id, () =>
    changeAccount(writer, account_id, async (change) => {
      await spendLink(change, token);
      const control = await controlOf(change.client);
      const { rowCount } = await control.query(setPassword, [account_id, login_id, password]);
      if (rowCount === 0) throw gone; // they have switched to single sign-on
      await control.query(endSessions, [login_id]);
      change.record('link_used', PAGE, {
        member_id,
        purpose: link.purpose,
        ...openedBy(asked, member_id, link.name),
      });
    }),
  );
  return { loginId: login_id, password: { login_id, password }, person: null };
}

/**
 * Activates the person who opened the link: a new owner, or the invited member. Their password is for this account only,
 * because the address is not verified.
 */
export async function joinByLink(
  asked: Pick<SignInRequest, 'parts' | 'caller'>,
  link: LinkRow,
  token: string,
  given: LinkInput,
): Promise<Opened> {
  const { purpose, account_id, account_name, member_id } = link;
  const person = await invitedPerson(asked, link);
  const email = link.email ?? given.required('email');
  const name = (given.name === undefined && link.name !== null ? link.name : given.required('name')).trim();
  const about = { about: [name, account_name], parameter: 'password' };
  const phc = person ? '' : await newPassword(asked.parts, email, given.required('password'), about);
  try {
    const { writer } = await asked.parts.stores.of(account_id);
    const loginId = await asked.parts.inTurn(writer, account_id, () =>
      changeAccount(writer, account_id, async (change) => {
        const { client, record, at } = change;
        await spendLink(change, token);
        const login_id = person?.loginId ?? (await makeLogin(change, [email, name, phc]));
        if (member_id !== null) {
          const [now] = (await client.query<{ login_id: number | null }>(loginNow, [account_id, member_id]))
            .rows;
          const before = now?.login_id ?? null;
          const member = await joinAs(change, { memberId: member_id, loginId: login_id, before });
          if (member === null) throw gone;
          const who = openedBy(asked, member_id, link.name);
          record('member_changed', PAGE, { member_id, ...member, changed: ['login'], ...who });
          record('link_used', PAGE, { member_id, purpose, ...who });
          return login_id;
        }
        const { rows } = await client.query<{ member_id: number }>(insertOwner, [
          account_id,
          name,
          email,
          at,
          login_id,
        ]);
        const { member_id: id } = one(rows, 'add an owner');
        const made = { member_id: id, name, email, roles: ['owner'], status: 'active' };
        const who = openedBy(asked, made.member_id, name);
        record('member_added', PAGE, { ...made, ...who });
        record('link_used', PAGE, { member_id: made.member_id, purpose, ...who });
        return login_id;
      }),
    );
    return { loginId, password: person ? null : { login_id: loginId, password: phc }, person };
  } catch (error) {
    if (
      error instanceof pg.DatabaseError &&
      ['member_email', 'member_login'].includes(error.constraint ?? '')
    )
      throw taken;
    throw error;
  }
}

async function makeLogin({ client, accountId }: Change, values: string[]): Promise<number> {
  const control = await controlOf(client);
  const { rows } = await control.query<{ login_id: number }>(insertLogin, [accountId, ...values]);
  return one(rows, 'store a login').login_id;
}

/** The actor of a log entry for an opened link: the link's member. */
function openedBy({ caller }: Pick<SignInRequest, 'caller'>, memberId: number | null, name: string | null) {
  return { actor_member_id: memberId, actor_name: name, source_ip: caller.address };
}
