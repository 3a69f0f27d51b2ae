import { keepDevice } from '../../accounts/sign-in/known-device.ts';
import { moveSession } from '../../accounts/sign-in/move-session.ts';
import { newPassword } from '../../accounts/sign-in/new-password.ts';
import { GivenPassword, NewPassword } from '../../accounts/sign-in/password.ts';
import { proveByPassword } from '../../accounts/sign-in/prove-by-password.ts';
import { proofNeeded } from '../../accounts/sign-in/session-rejections.ts';
import { renewSession } from '../../accounts/sign-in/sessions.ts';
import { setPassword } from '../../accounts/sign-in/set-password.ts';
import { version } from '../../platform/package-root.ts';
import { notFound, Rejection } from '../../platform/rejection.ts';
import { timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { type NamedAccount, sortedAccounts } from './sorted-accounts.ts';

const Passkey = Type.Object({
  /** base64url. */
  id: Type.String(),
  name: Type.String(),
  created_at: timestamp('when it was added'),
  last_used_at: nullable(timestamp('when it last signed in; null = never')),
});

/** The signed-in person, their account, and their permissions. */
export const Profile = Type.Object({
  login: Type.Object({
    email: Type.String(),
    name: Type.String(),
    has_password: Type.Boolean(),
    /** Signs in with the company's identity provider, which manages the password. */
    single_sign_on: Type.Boolean(),
    passkeys: Type.Array(Passkey),
  }),
  account: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    kind: Type.String(),
    plan: Type.String(),
    /** Of each key; 0 = no access to the API. */
    requests_per_minute: Type.Integer(),
  }),
  /** All accounts of the login, sorted by name. */
  accounts: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() })),
  member: Type.Object({ id: Type.Integer(), name: Type.String(), roles: Type.Array(Type.String()) }),
  permissions: Type.Array(Type.String()),
  server_time: timestamp("the server's clock"),
  version: Type.String(),
});
export type Profile = Static<typeof Profile>;

const readLogin = `
  select l.email, l.name, l.has_password, l.oidc_issuer is not null as single_sign_on,
         coalesce((select jsonb_agg(jsonb_build_object(
                     'id', translate(rtrim(encode(p.credential_id, 'base64'), '='), E'+/\\n', '-_'), 'name', p.name,
                     'created_at', p.created_at, 'last_used_at', p.last_used_at) order by p.created_at)
                     from passkey p
                    where p.login_id = l.login_id), '[]') as passkeys
    from login l
   where l.login_id = $1`;

const readAccount = `
  select account_id as id, name, kind, plan, request_limit as requests_per_minute
    from account
   where account_id = $1`;

const readAccounts = `
  select a.account_id, a.name
    from member m
    join account a on a.account_id = m.account_id
   where m.login_id = $1
     and m.status = 'active'
   order by a.account_id`;

const showProfile = consoleRoute({
  method: 'GET',
  path: '/me',
  permission: 'member',
  response: Profile,
  async handler({ actor, read, readOwn, readOwnAccounts }) {
    const [[account], [login], accounts] = await Promise.all([
      read((run) => run<Profile['account']>(readAccount, [actor.accountId])),
      readOwn((run) => run<Profile['login']>(readLogin, [actor.loginId])),
      readOwnAccounts<NamedAccount>(readAccounts, [actor.loginId]),
    ]);
    if (!login || !account) throw notFound();
    return {
      login: {
        ...login,
        passkeys: login.passkeys.map((key) => ({
          ...key,
          created_at: new Date(key.created_at).toISOString(),
          last_used_at: key.last_used_at === null ? null : new Date(key.last_used_at).toISOString(),
        })),
      },
      account,
      accounts: sortedAccounts(accounts),
      member: { id: actor.memberId, name: actor.name, roles: actor.roles },
      permissions: [...actor.permissions],
      server_time: new Date().toISOString(),
      version,
    };
  },
});

const mayActIn = `
  select account_id from member where login_id = $1 and account_id = $2 and status = 'active'`;

const switchAccount = consoleRoute({
  method: 'POST',
  path: '/me/account',
  permission: 'member',
  body: Type.Object({
    id: Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Choose one of your accounts.',
    }),
  }),
  response: null,
  async handler({ actor, caller, body, parts: { stores, inTurn }, readOwnAccounts }) {
    const mine = await readOwnAccounts<{ account_id: number }>(mayActIn, [actor.loginId, body.id]);
    if (mine.length === 0) throw notFound();
    const { writer } = await stores.of(body.id);
    const { sessionId, loginId } = actor;
    await inTurn(writer, body.id, () =>
      moveSession(writer, { sessionId, loginId, accountId: body.id, caller }),
    );
  },
});

const changePassword = consoleRoute({
  method: 'POST',
  path: '/me/password',
  permission: 'member',
  // `current` is absent when there was no password yet.
  body: Type.Object({ current: Type.Optional(GivenPassword), next: NewPassword }),
  response: null,
  async handler(asked) {
    const { actor, body, parts, change, readOwn, readOwnAccounts } = asked;
    if (actor.bySingleSignOn) {
      throw new Rejection(
        'conflict',
        'You sign in with single sign-on. Change your password at your identity provider.',
      );
    }
    const [login] = await readOwn((run) => run<Profile['login']>(readLogin, [actor.loginId]));
    if (!login?.has_password) {
      if (!actor.isRecent) throw proofNeeded;
    } else {
      // Guesses from a stolen session count like guesses at sign-in.
      const given = { email: actor.email, password: body.current ?? '' };
      if ((await proveByPassword(asked, given, actor)) === null) {
        throw new Rejection('forbidden', 'This is not your current password. Try again.', {
          parameter: 'current',
        });
      }
    }
    const [account] = await readOwnAccounts<NamedAccount>(readAccounts, [actor.loginId]);
    const about = [actor.name, account?.name ?? null];
    const password = await newPassword(parts, actor.email, body.next, { about, parameter: 'next' });
    await change((made) => setPassword(made, actor, password));
    await renewSession(asked);
    keepDevice(asked, [{ login_id: actor.loginId, password }]);
  },
});

export const profileRoutes: ConsoleRoute[] = [showProfile, switchAccount, changePassword];
