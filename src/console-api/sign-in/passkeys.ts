import type { Actor } from '../../accounts/members/actor.ts';
import { addPasskey, rejectKnownPasskey } from '../../accounts/sign-in/passkeys/add-passkey.ts';
import { newChallenge } from '../../accounts/sign-in/passkeys/challenges.ts';
import {
  ALGORITHMS,
  relyingParty,
  TIMEOUT_MS,
  USER_HANDLE,
} from '../../accounts/sign-in/passkeys/relying-party.ts';
import { removePasskey } from '../../accounts/sign-in/passkeys/remove-passkey.ts';
import { NewPasskey, verifyNewPasskey } from '../../accounts/sign-in/passkeys/verify-new-passkey.ts';
import { notFound } from '../../platform/rejection.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';

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
    if (!login) throw notFound();
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
    const passkey = await verifyNewPasskey(asked, purpose(actor), body.response);
    await change((made) => addPasskey(made, actor, { ...passkey, name: body.name.trim() })).catch(
      rejectKnownPasskey,
    );
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
    const hasSingleSignOn = parts.singleSignOn !== null;
    await change((made) => removePasskey(made, actor, credential, { hasSingleSignOn }));
  },
});

/** The person's own passkeys; `GET /me` lists them. */
export const passkeyRoutes: ConsoleRoute[] = [ask, add, takeAway];
