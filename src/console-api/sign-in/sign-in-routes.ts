import { signOut } from '../../accounts/sign-in/end-session.ts';
import { keepDevice } from '../../accounts/sign-in/known-device.ts';
import { GivenPassword } from '../../accounts/sign-in/password.ts';
import { proveByPassword } from '../../accounts/sign-in/prove-by-password.ts';
import { setCookie } from '../../accounts/sign-in/session/session-cookie.ts';
import { startSession } from '../../accounts/sign-in/sessions.ts';
import { Rejection } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { type ConsoleRoute, openRoute } from '../route.ts';
import { type NamedAccount, sortedAccounts } from './sorted-accounts.ts';

export const Email = Type.String({
  maxLength: 200,
  // No control characters and no lone surrogates: the store holds neither.
  pattern: String.raw`^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$`,
  description: 'Enter an e-mail address, such as ada@example.com.',
});

const wrong = new Rejection(
  'unauthorized',
  'The e-mail address or password is wrong. Try again, or ask an administrator for a new link.',
);

const accountsOf = `
  select a.account_id, a.name
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
      const accounts = await asked.parts.stores.inEach(
        async ({ writer }) => (await writer.query<NamedAccount>(accountsOf, ids)).rows,
      );
      throw new Rejection('choose_account', 'You have several accounts. Choose one.', {
        accounts: sortedAccounts(accounts),
      });
    }
    await startSession(asked, login.login_id, { by: 'password', password: login.password });
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
    if (caller.sessionToken !== null) await signOut(parts, caller.sessionToken);
  },
});

export const signInRoutes: ConsoleRoute[] = [signIn, leave];
