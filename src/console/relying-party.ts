import { isIP } from 'node:net';
import { ConsoleError } from './errors.ts';

/** What verifies passkeys; loaded with the first one, for it takes 0.2 s of a core and 27 MB (measured). */
export const webauthn = () => import('@simplewebauthn/server');

/** What a new passkey may sign by: EdDSA, ES256 and RS256 of COSE, which every authenticator has one of. */
export const ALGORITHMS = [-8, -7, -257];

/** How long a browser may ask the person, in milliseconds; a challenge lives a little longer. */
export const TIMEOUT_MS = 240_000;

/** SQL: 32 bytes that a passkey knows the login `l` by; of no other login, nor of another store at the same host name. */
export const USER_HANDLE = `sha256(convert_to(l.login_id || ' ' || extract(epoch from l.created_at), 'UTF8'))`;

/** The host name that passkeys are made for. Throws 409 where browsers make none. */
export function relyingParty(origin: string): string {
  const { hostname } = new URL(origin);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) === 0) return hostname;
  throw new ConsoleError(
    'conflict',
    'Browsers keep passkeys for names, not for addresses: open the console by https and a host name, or at localhost.',
  );
}
