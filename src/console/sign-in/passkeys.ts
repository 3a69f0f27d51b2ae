import pg from 'pg';
import { type Static, Type } from 'typebox';
import type { Actor } from '../../members/actor.ts';
import { newChallenge } from '../../sign-in/challenges.ts';
import { ALGORITHMS, relyingParty, TIMEOUT_MS, USER_HANDLE } from '../../sign-in/relying-party.ts';
import { NewPasskey, verifyNewPasskey } from '../../sign-in/verify-new-passkey.ts';
import { notFound, Rejection } from '../../vocabulary/rejection.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';
import { stringEnum } from '../string-enum.ts';

/** Of a login. */
const MOST = 20;

const Credential = Type.Object({
  type: stringEnum('public-key'),
  id: Type.String(),
  transports: Type.Array(Type.String()),
});

/** The input of `PublicKeyCredential.parseCreationOptionsFromJSON`. */
const NewPasskeyQuestion = Type.Object({
  challenge: Type.String(),
  rp: Type.Object({ id: Type.String(), name: Type.String() }),
  user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
  pubKeyCredParams: Type.Array(Type.Object({ type: stringEnum('public-key'), alg: Type.Integer() })),
  excludeCredentials: Type.Array(Credential),
  authenticatorSelection: Type.Object({
    residentKey: stringEnum('required'),
    requireResidentKey: Type.Boolean(),
    userVerification: stringEnum('required'),
  }),
  attestation: stringEnum('none'),
  /** Milliseconds. */
  timeout: Type.Integer(),
});

const readLogin = `
  select ${USER_HANDLE} as user_handle, l.email, l.name,
         array(select jsonb_build_object('type', 'public-key', 'transports', p.transports,
                 'id', translate(encode(p.credential_id, 'base64'), E'+/=\\n', '-_'))
                 from passkey p
                where p.login_id = l.login_id) as passkeys
    from login l
   where l.login_id = $1`;

const insert = `
  insert into passkey (credential_id, login_id, name, public_key, counter, transports)
  select $1, $2, $3, $4, $5, $6
   where (select count(*) from passkey where login_id = $2) < ${MOST}`;

// Locked, so that two removals at the same time can't remove the last two ways to sign in.
const waysIn = `
  select l.password is not null as password, l.oidc_subject is not null as oidc,
         (select count(*) from passkey p where p.login_id = l.login_id) as passkeys
    from login l
   where l.login_id = $1
     for update`;

const remove = 'delete from passkey where credential_id = $1 and login_id = $2 returning name';

const purpose = ({ loginId }: Actor) => `add a passkey to login ${loginId}`;

interface LoginRow {
  user_handle: Buffer;
  email: string;
  name: string;
  passkeys: Static<typeof Credential>[];
}

const ask = consoleRoute({
  method: 'POST',
  path: '/me/passkeys/options',
  recent: true,
  permission: 'member',
  response: NewPasskeyQuestion,
  async handler(asked) {
    const { actor, parts, readOwn } = asked;
    const { secret } = parts;
    const { id } = relyingParty(asked);
    const [login] = await readOwn((run) => run<LoginRow>(readLogin, [actor.loginId]));
    if (!login) throw notFound;
    return {
      challenge: newChallenge(secret, purpose(actor)),
      rp: { id, name: 'dbvitals' },
      user: { id: login.user_handle.toString('base64url'), name: login.email, displayName: login.name },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
      excludeCredentials: login.passkeys,
      // Discoverable, because sign-in asks for no address; with user verification, because the passkey is the only
      // factor.
      authenticatorSelection: {
        residentKey: 'required' as const,
        requireResidentKey: true,
        userVerification: 'required' as const,
      },
      attestation: 'none' as const,
      timeout: TIMEOUT_MS,
    };
  },
});

const add = consoleRoute({
  method: 'POST',
  path: '/me/passkeys',
  recent: true,
  permission: 'member',
  body: Type.Object({
    name: singleLine(100, 'Name the passkey by the device that keeps it, in 1 to 100 characters.'),
    response: NewPasskey,
  }),
  response: null,
  async handler(asked) {
    const { actor, body, change } = asked;
    const {
      id,
      publicKey,
      counter,
      transports = [],
    } = await verifyNewPasskey(asked, purpose(actor), body.response);
    const name = body.name.trim();
    await change(async ({ client, record }) => {
      const values = [Buffer.from(id, 'base64url'), actor.loginId, name, publicKey, counter, transports];
      const { rowCount } = await client.query(insert, values);
      if (rowCount === 0) {
        throw new Rejection('conflict', `You already have ${MOST} passkeys. Remove one that you do not use.`);
      }
      record('passkey_added', '/sessions', { member_id: actor.memberId, name: actor.name, passkey: name });
    }).catch((error: unknown) => {
      if (!(error instanceof pg.DatabaseError && error.constraint === 'passkey_pkey')) throw error;
      throw new Rejection('conflict', 'This passkey was already added.');
    });
  },
});

const takeAway = consoleRoute({
  method: 'DELETE',
  path: '/me/passkeys/:passkey',
  recent: true,
  permission: 'member',
  response: null,
  async handler({ actor, params, change, parts }) {
    const credential = Buffer.from(params['passkey'] ?? '', 'base64url');
    await change(async ({ client, record }) => {
      const { rows } = await client.query<{ password: boolean; oidc: boolean; passkeys: number }>(waysIn, [
        actor.loginId,
      ]);
      const [ways] = rows;
      const isLast = ways?.passkeys === 1 && !ways.password && !(ways.oidc && parts.singleSignOn);
      const [removed] = (await client.query<{ name: string }>(remove, [credential, actor.loginId])).rows;
      if (!removed) throw notFound;
      if (isLast) {
        throw new Rejection(
          'conflict',
          'This passkey is your only way to sign in. Set a password or add another passkey first.',
        );
      }
      const { memberId: member_id, name } = actor;
      record('passkey_removed', '/sessions', { member_id, name, passkey: removed.name });
    });
  },
});

/** The person's own passkeys; `GET /me` lists them. */
export const passkeyRoutes: ConsoleRoute[] = [ask, add, takeAway];
