import { invalidParameter } from '../platform/rejection.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';

/** Throws a {@link Rejection} for `verify-ca` without the authority that it trusts. */
export function requireAuthority(tls: TlsMode, caCertificate: string | null | undefined): void {
  if (tls !== 'verify-ca' || caCertificate?.includes('-----BEGIN CERTIFICATE-----')) return;
  throw invalidParameter(
    'ca_certificate',
    'The TLS mode verify-ca trusts only the certificates of the connection: add them, or use verify-full.',
  );
}

/** The mode that is `wanted`, or that the URL asks for. Throws a {@link Rejection} if they differ. */
export function agreedTls(wanted: TlsMode | undefined, inUrl: TlsMode | undefined): TlsMode | undefined {
  if (wanted === undefined || inUrl === undefined || wanted === inUrl) return wanted ?? inUrl;
  throw invalidParameter(
    'tls',
    `The URL asks for the TLS mode ${inUrl}, and the setting is ${wanted}: change one of them.`,
  );
}

/** The TLS mode for a connection type: by default verify-full, and none for a Unix socket. */
export function tlsOf(connectionType: string, wanted: TlsMode | undefined): TlsMode {
  if (connectionType !== 'unix_socket') return wanted ?? 'verify-full';
  if (wanted === undefined || wanted === 'disable') return 'disable';
  throw invalidParameter('tls', 'A Unix socket has no TLS: leave out the TLS mode.');
}
