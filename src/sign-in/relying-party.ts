import { isIP } from 'node:net';
import { ConsoleError } from '../console/errors.ts';
import type { ConsoleRequest } from '../console/route.ts';

/** What verifies passkeys; loaded with the first one, for it takes 0.2 s of a core and 27 MB (measured). */
export const webauthn = () => import('@simplewebauthn/server');

/** What a new passkey may sign by: EdDSA, ES256 and RS256 of COSE, which every authenticator has one of. */
export const ALGORITHMS = [-8, -7, -257];

/** How long a browser may ask the person, in milliseconds; a challenge lives a little longer. */
export const TIMEOUT_MS = 240_000;

/** SQL: 32 bytes that a passkey knows the login `l` by; of no other login, nor of another store at the same host name. */
export const USER_HANDLE = `sha256(convert_to(l.login_id || ' ' || extract(epoch from l.created_at), 'UTF8'))`;

/**
 * The origin and host name that passkeys are made for, whatever the request's Host header says. Throws 409 where the caller's
 * page has another origin, or where browsers make no passkeys.
 */
export function relyingParty({ parts, caller }: Pick<ConsoleRequest, 'parts' | 'caller'>): {
  origin: string;
  id: string;
} {
  const origin = parts.passkeyOrigin();
  const { hostname } = new URL(origin);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    throw new ConsoleError(
      'conflict',
      'Browsers make no passkeys for IP addresses: set DBVITALS_PUBLIC_URL to https and a host name.',
    );
  }
  if (caller.origin === origin) return { origin, id: hostname };
  throw new ConsoleError(
    'conflict',
    `Passkeys work at ${origin} only: open the console there, or set DBVITALS_PUBLIC_URL to the address that you use.`,
  );
}
