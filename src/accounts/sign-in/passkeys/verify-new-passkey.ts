import type { RegistrationResponseJSON, WebAuthnCredential } from '@simplewebauthn/server';
import { Rejection } from '../../../platform/rejection.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { stringEnum } from '../../../platform/schema/string-enum.ts';
import type { SignInRequest } from '../sign-in-request.ts';
import { isChallenge, useChallenge } from './challenges.ts';
import { Bytes } from './prove-by-passkey.ts';
import { ALGORITHMS, relyingParty, webauthn } from './relying-party.ts';

/** The parts of the browser's `toJSON` that are used. */
export const NewPasskey = Type.Object({
  id: Bytes,
  rawId: Bytes,
  type: stringEnum('public-key'),
  response: Type.Object({
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z-]{1,30}$' }), { maxItems: 10 })),
  }),
});

const refused = new Rejection(
  'invalid_parameter',
  'This passkey was not accepted, or it took longer than five minutes. Try again.',
  { parameter: 'response' },
);

/**
 * Verifies a new passkey against the request that it answers (`asked` is the purpose of its challenge, which is used up).
 * Returns the passkey with its public key as COSE. Throws 400.
 */
export async function verifyNewPasskey(
  { parts, caller }: Pick<SignInRequest, 'parts' | 'caller'>,
  asked: string,
  given: Static<typeof NewPasskey>,
): Promise<WebAuthnCredential> {
  const { origin, id } = relyingParty({ parts, caller });
  const { verifyRegistrationResponse } = await webauthn();
  const { transports, ...told } = given.response;
  const response: RegistrationResponseJSON = {
    ...given,
    response: { ...told, ...(transports && { transports }) },
    clientExtensionResults: {},
  };
  let challenge = '';
  const answer = await refuseCertificates(told.attestationObject)
    .then(() =>
      verifyRegistrationResponse({
        response,
        expectedChallenge: (said) => {
          challenge = said;
          return isChallenge(parts.secret, asked, said);
        },
        expectedOrigin: origin,
        expectedRPID: id,
        requireUserVerification: true,
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    )
    .catch((error: unknown) => {
      parts.requestLog.failed({ err: error, request_id: caller.requestId }, 'a new passkey was not accepted');
      throw refused;
    });
  if (!answer.verified || !(await useChallenge(parts.control, challenge))) throw refused;
  return answer.registrationInfo.credential;
}

// No attestation was requested, and to check a certificate for revocation the package would fetch URLs in it. A
// self-signed attestation ("packed", without certificates) is harmless.
async function refuseCertificates(attestationObject: string): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const attestation = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
  const format = attestation.get('fmt');
  if (format === 'none' || (format === 'packed' && !attestation.get('attStmt').get('x5c'))) return;
  throw new Error(`an attestation that was not asked for: ${format}`);
}
