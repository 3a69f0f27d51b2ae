import { newChallenge } from '../../accounts/sign-in/passkeys/challenges.ts';
import { PasskeyAnswer, proveByPasskey } from '../../accounts/sign-in/passkeys/prove-by-passkey.ts';
import { relyingParty, TIMEOUT_MS } from '../../accounts/sign-in/passkeys/relying-party.ts';
import { startSession } from '../../accounts/sign-in/sessions.ts';
import { Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { type ConsoleRequest, type ConsoleRoute, openRoute } from '../route.ts';

const PURPOSE = 'sign in by passkey';

/**
 * The input of `PublicKeyCredential.parseRequestOptionsFromJSON`. It names no passkey: the browser offers those it has.
 */
export const PasskeyQuestion = Type.Object({
  challenge: Type.String(),
  rpId: Type.String(),
  /** Milliseconds. */
  timeout: Type.Integer(),
  userVerification: stringEnum('required'),
});

const ask = openRoute({
  method: 'POST',
  path: '/sign-in/passkey/options',
  permission: 'anyone',
  response: PasskeyQuestion,
  async handler(asked) {
    return passkeyQuestion(asked, PURPOSE);
  },
});

const signIn = openRoute({
  method: 'POST',
  path: '/sign-in/passkey',
  permission: 'anyone',
  body: Type.Object({ response: PasskeyAnswer }),
  response: null,
  async handler(asked) {
    const { response } = asked.body;
    const login = await proveByPasskey(asked, response, { purpose: PURPOSE });
    await startSession(asked, login, { by: 'passkey', passkey: Buffer.from(response.id, 'base64url') });
  },
});

/** The request for a passkey; its challenge is valid for one answer with this purpose. */
export function passkeyQuestion(asked: Pick<ConsoleRequest, 'parts' | 'caller'>, purpose: string) {
  return {
    challenge: newChallenge(asked.parts.secret, purpose),
    rpId: relyingParty(asked).id,
    timeout: TIMEOUT_MS,
    userVerification: 'required' as const,
  };
}

/** Sign-in with a passkey. */
export const passkeySignInRoutes: ConsoleRoute[] = [ask, signIn];
