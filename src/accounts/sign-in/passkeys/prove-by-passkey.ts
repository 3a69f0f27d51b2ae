import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type pg from 'pg';
import { Rejection } from '../../../platform/rejection.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { stringEnum } from '../../../platform/schema/string-enum.ts';
import type { SignInRequest } from '../sign-in-request.ts';
import { isChallenge, useChallenge } from './challenges.ts';
import { relyingParty, USER_HANDLE, webauthn } from './relying-party.ts';

/** Bytes in base64url. */
export const Bytes = Type.String({ minLength: 1, pattern: '^[\\w-]+$' });

/** The parts of the browser's `toJSON` that are used. */
export const PasskeyAnswer = Type.Object({
  id: Bytes,
  rawId: Bytes,
  type: stringEnum('public-key'),
  response: Type.Object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Bytes,
  }),
});

const find = `
  select p.login_id, p.public_key, p.counter, ${USER_HANDLE} as user_handle
    from passkey p
    join login l on l.login_id = p.login_id
   where p.credential_id = $1`;

// If two answers have the same counter, one is from a copied key. Synced passkeys do not count: their counter stays 0.
const used = `
  update passkey
     set counter = $2, last_used_at = clock_timestamp()
   where credential_id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`;

interface PasskeyRow {
  login_id: number;
  public_key: Buffer;
  counter: number;
  user_handle: Buffer;
}

const refused = new Rejection(
  'unauthorized',
  'This passkey was not accepted. It was removed from this service, or the sign-in took longer than five minutes. Try again, or use your password.',
);

/**
 * Verifies a passkey's answer and returns its login. `purpose` is that of the challenge, which is used up; `only` is the
 * required login. Throws 401.
 */
export async function proveByPasskey(
  asked: Pick<SignInRequest, 'parts' | 'caller'>,
  response: Static<typeof PasskeyAnswer>,
  { purpose, only }: { purpose: string; only?: number },
): Promise<number> {
  const { control: writer } = asked.parts;
  const credential = Buffer.from(response.id, 'base64url');
  const [passkey] = (await writer.query<PasskeyRow>(find, [credential])).rows;
  if (!passkey?.user_handle.equals(Buffer.from(response.response.userHandle, 'base64url'))) throw refused;
  if (only !== undefined && passkey.login_id !== only) throw refused;
  const counter = await verify(asked, response, passkey, purpose);
  await count(writer, credential, counter);
  return passkey.login_id;
}

/**
 * Verifies an answer with the passkey's public key and uses up its challenge. Returns the answer's counter. Throws 401.
 */
async function verify(
  { parts, caller }: Pick<SignInRequest, 'parts' | 'caller'>,
  given: Static<typeof PasskeyAnswer>,
  passkey: PasskeyRow,
  purpose: string,
): Promise<number> {
  const { origin, id: rpId } = relyingParty({ parts, caller });
  const { verifyAuthenticationResponse } = await webauthn();
  const response: AuthenticationResponseJSON = { ...given, clientExtensionResults: {} };
  let challenge = '';
  const answer = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (told) => {
      challenge = told;
      return isChallenge(parts.secret, purpose, told);
    },
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential: { id: given.id, publicKey: new Uint8Array(passkey.public_key), counter: passkey.counter },
    requireUserVerification: true,
  }).catch((error: unknown) => {
    parts.requestLog.failed({ err: error, request_id: caller.requestId }, 'a passkey was not accepted');
    throw refused;
  });
  if (!answer.verified || !(await useChallenge(parts.control, challenge))) throw refused;
  return answer.authenticationInfo.newCounter;
}

async function count(writer: pg.Pool, credential: Buffer, counter: number): Promise<void> {
  const { rowCount } = await writer.query(used, [credential, counter]);
  if (rowCount === 0) throw refused;
}
