import { type ConnectionOptions, getCACertificates } from 'node:tls';
import type { Target } from './session.ts';

/** How TLS is spoken with a target, but for the name that its certificate must have; null = not at all. */
export function tlsOptions({ tls, caCertificate }: Target): ConnectionOptions | null {
  if (tls === 'disable') return null;
  if (tls === 'require') return { rejectUnauthorized: false };
  if (caCertificate === null) return { rejectUnauthorized: true };
  // Node's `ca` takes the place of its own list, so that is named beside it.
  return { rejectUnauthorized: true, ca: [...getCACertificates('default'), caCertificate] };
}
