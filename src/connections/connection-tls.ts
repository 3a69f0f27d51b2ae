import type { TlsMode } from '../vocabulary/tls-modes.ts';
import { ConnectionRejected } from './connection-rejected.ts';

/** The TLS mode for a connection type: by default verify-full, and none for a Unix socket. */
export function tlsOf(connectionType: string, wanted: TlsMode | undefined): TlsMode {
  if (connectionType !== 'unix_socket') return wanted ?? 'verify-full';
  if (wanted === undefined || wanted === 'disable') return 'disable';
  throw new ConnectionRejected('tls', 'A Unix socket has no TLS: leave out the TLS mode.');
}
