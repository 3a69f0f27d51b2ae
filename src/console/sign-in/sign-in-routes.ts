import { Type } from 'typebox';
import { changeAccount } from '../../activity/record-entry.ts';
import { readOwn } from '../../database/read.ts';
import { foldedEmail } from '../../members/email.ts';
import { signOut } from '../../sign-in/end-session.ts';
import { keepDevice, knownDevice, type PasswordLogin } from '../../sign-in/known-device.ts';
import { throttledLogin } from '../../sign-in/login-throttle.ts';
import { GivenPassword, hashNewPassword, whosePassword } from '../../sign-in/password.ts';
import { setCookie, startSession } from '../../sign-in/sessions.ts';
import type { Caller } from '../../sign-in/sign-in-request.ts';
import { Rejection } from '../../vocabulary/rejection.ts';
import { type ConsoleParts, type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

export const Email = Type.String({
  maxLength: 200,
  // No control characters and no lone surrogates: the store holds neither.
  pattern: String.raw`^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$`,
  description: 'Enter an e-mail address, such as ada@example.com.',
});

// Several accounts may have a login with the same address, because nobody verified it.
const byEmail = `
  select login_id, account_id, password from login
   where ${foldedEmail('email')} = ${foldedEmail('$1::text')} and password is not null
   order by login_id`;

const memberships = `
  select account_id, member_id, name from member where login_id = $1 and status = 'active' order by account_id`;

const wrong = new Rejection(
  'unauthorized',
  'The e-mail address or password is wrong. Try again, or ask an administrator for a new link.',
);

/** A login of one account. */
interface Login extends PasswordLogin {
  account_id: number;
}

/**
 * The logins of an e-mail address that have this password; `only` restricts them to one login or account. A wrong
 * password is counted and logged; returns null.
 *
 * Anyone may create a login with the address in their own account. So a password must not reveal whether it also fits
 * other accounts: on a known device only its logins are checked, and elsewhere a password that fits only some of the
 * logins counts as a guess at the others.
 */
export async function proveByPassword(
  asked: Pick<ConsoleRequest, 'parts' | 'caller' | 'reply'>,
  { email, password }: { email: string; password: string },
  only: { loginId?: number; accountId?: number } = {},
): Promise<Login[] | null> {
  const { parts, caller } = asked;
  const { rows } = await parts.writer.query<Login>(byEmail, [email]);
  const logins = rows.filter(
    ({ login_id, account_id }) =>
      (only.loginId ?? login_id) === login_id && (only.accountId ?? account_id) === account_id,
  );
  const { device, logins: known } = knownDevice(asked, logins);
  const isKnown = ({ login_id }: Login) => known.includes(login_id);
  return throttledLogin(parts.writer, { ...caller, email, device }, async ({ asDevice, asAnybody }) => {
    const theirs = await whosePassword(logins, password);
    const here = asDevice ? theirs.filter(isKnown) : [];
    if (here.length > 0) return { value: here, isGuess: false };
    if (asAnybody && theirs.length > 0) return { value: theirs, isGuess: theirs.length < logins.length };
    // On a known device it was one of its own users, so other accounts with the address are not notified.
    for (const { login_id } of device === null ? logins : logins.filter(isKnown)) {
      recordFailure(parts, caller, login_id);
    }
    return null;
  });
}

/** Not awaited: the response time would reveal whether the address exists. */
function recordFailure({ writer, reader, log }: ConsoleParts, caller: Caller, loginId: number): void {
  const record = async () => {
    const rows = await readOwn(reader, loginId, (run) =>
      run<{ account_id: number; member_id: number; name: string }>(memberships, [loginId]),
    );
    for (const { account_id, ...member } of rows) {
      await changeAccount(writer, account_id, async ({ record }) => {
        const { address, userAgent } = caller;
        // The actor is unknown; the member is the one whose sign-in was attempted.
        const from = { source_ip: address, user_agent: userAgent };
        record('member_sign_in_failed', '/sign-in', { actor: 'unknown', ...member, ...from });
      });
    }
  };
  record().catch((error) =>
    log.error({ err: error }, 'an attempt to sign in that failed could not be recorded'),
  );
}

const anyOfEmail = `
  select password from login
   where ${foldedEmail('email')} = ${foldedEmail('$1::text')} and password is not null
   order by login_id
   limit 1`;

/** Hashes a new password for an e-mail address. Throws 400 when it is easy to guess. */
export async function newPassword(
  { writer }: Pick<ConsoleParts, 'writer'>,
  email: string,
  password: string,
  { about, parameter }: { about: readonly (string | null)[]; parameter: string },
): Promise<string> {
  const { rows } = await writer.query<{ password: string }>(anyOfEmail, [email]);
  return hashNewPassword(password, {
    about: [email, ...about],
    parameter,
    beside: rows[0]?.password ?? null,
  });
}

const accountsOf = `
  select a.account_id as id, a.name
    from account a
   where a.account_id = any ($1)
   order by a.name, a.account_id`;

const signIn = openRoute({
  method: 'POST',
  path: '/sign-in',
  permission: 'anyone',
  body: Type.Object({
    email: Email,
    password: GivenPassword,
    /** Needed when several accounts have this address and password: the 409 `choose_account` lists them. */
    account_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Choose one of your accounts.',
      }),
    ),
  }),
  response: null,
  async handler(asked) {
    const { account_id, ...given } = asked.body;
    const logins = await proveByPassword(
      asked,
      given,
      account_id === undefined ? {} : { accountId: account_id },
    );
    const [login] = logins ?? [];
    if (logins === null || login === undefined) throw wrong;
    keepDevice(asked, logins);
    if (logins.length > 1) {
      const ids = [logins.map((each) => each.account_id)];
      const { rows } = await asked.parts.writer.query<{ id: number; name: string }>(accountsOf, ids);
      throw new Rejection('choose_account', 'You have several accounts. Choose one.', {
        accounts: rows,
      });
    }
    await startSession(asked, login.login_id, 'password');
  },
});

const leave = openRoute({
  method: 'POST',
  path: '/sign-out',
  permission: 'anyone',
  response: null,
  async handler(asked) {
    const { parts, caller } = asked;
    setCookie(asked, null);
    if (caller.sessionToken !== null) await signOut(parts.writer, caller.sessionToken);
  },
});

export const signInRoutes: ConsoleRoute[] = [signIn, leave];
