import { type ConnectionOptions, getCACertificates } from 'node:tls';
import type { Target } from './session.ts';

/** The TLS options for a target, except the host name to verify; null = no TLS. */
export function tlsOptions({ tls, caCertificate }: Target): ConnectionOptions | null {
  if (tls === 'disable') return null;
  if (tls === 'require') return { rejectUnauthorized: false };
  if (caCertificate === null) return { rejectUnauthorized: true };
  // Node's `ca` replaces the default list, so it must include that list.
  return { rejectUnauthorized: true, ca: [...getCACertificates('default'), caCertificate] };
}
