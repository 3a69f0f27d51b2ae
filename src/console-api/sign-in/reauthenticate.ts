import type { Actor } from '../../accounts/members/actor.ts';
import { keepDevice } from '../../accounts/sign-in/known-device.ts';
import { PasskeyAnswer, proveByPasskey } from '../../accounts/sign-in/passkeys/prove-by-passkey.ts';
import { GivenPassword } from '../../accounts/sign-in/password.ts';
import { proveByPassword } from '../../accounts/sign-in/prove-by-password.ts';
import { renewSession } from '../../accounts/sign-in/sessions.ts';
import { Rejection } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { PasskeyQuestion, passkeyQuestion } from './passkey-sign-in.ts';

// A signed-in person confirms their identity before a credential is changed. With single sign-on they sign in again.

const purpose = ({ loginId }: Actor) => `prove again login ${loginId}`;

const byPassword = consoleRoute({
  method: 'POST',
  path: '/me/proof',
  permission: 'member',
  body: Type.Object({ password: GivenPassword }),
  response: null,
  async handler(asked) {
    const { actor, body } = asked;
    // Guesses from a stolen session count like guesses at sign-in.
    const logins = await proveByPassword(asked, { email: actor.email, ...body }, actor);
    if (logins === null) {
      throw new Rejection('forbidden', 'This is not your password. Try again.', { parameter: 'password' });
    }
    keepDevice(asked, logins);
    await renewSession(asked);
  },
});

const askPasskey = consoleRoute({
  method: 'POST',
  path: '/me/proof/passkey/options',
  permission: 'member',
  response: PasskeyQuestion,
  async handler(asked) {
    return passkeyQuestion(asked, purpose(asked.actor));
  },
});

const byPasskey = consoleRoute({
  method: 'POST',
  path: '/me/proof/passkey',
  permission: 'member',
  body: Type.Object({ response: PasskeyAnswer }),
  response: null,
  async handler(asked) {
    const { actor, body } = asked;
    await proveByPasskey(asked, body.response, { purpose: purpose(actor), only: actor.loginId });
    await renewSession(asked);
  },
});

/** The routes that confirm the identity of the signed-in person. */
export const reauthenticationRoutes: ConsoleRoute[] = [byPassword, askPasskey, byPasskey];
