import { isIP } from 'node:net';
import { Rejection } from '../../../platform/rejection.ts';
import type { SignInRequest } from '../sign-in-request.ts';

/** The library that verifies passkeys. Loaded on first use: it takes 0.2 s of CPU and 27 MB (measured). */
export const webauthn = () => import('@simplewebauthn/server');

/** The COSE algorithms for a new passkey: EdDSA, ES256 and RS256. Every authenticator supports one of them. */
export const ALGORITHMS = [-8, -7, -257];

/** The browser's timeout for a passkey request, in milliseconds; a challenge is valid a little longer. */
export const TIMEOUT_MS = 240_000;

/** SQL: the 32-byte user handle of the login `l`, unique across logins and across stores at the same host name. */
export const USER_HANDLE = `sha256(convert_to(l.login_id || ' ' || extract(epoch from l.created_at), 'UTF8'))`;

/**
 * The origin and host name for passkeys, whatever the request's Host header says. Throws 409 when the caller's page has
 * another origin, or where browsers create no passkeys.
 */
export function relyingParty({ parts, caller }: Pick<SignInRequest, 'parts' | 'caller'>): {
  origin: string;
  id: string;
} {
  const origin = parts.passkeyOrigin();
  const { hostname } = new URL(origin);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw new Rejection(
      'conflict',
      'Browsers do not create passkeys for IP addresses. Set DBVITALS_PUBLIC_URL to https and a host name.',
    );
  }
  if (caller.origin === origin) return { origin, id: hostname };
  throw new Rejection(
    'conflict',
    `Passkeys work only at ${origin}. Open the console there, or set DBVITALS_PUBLIC_URL to the address that you use.`,
  );
}
