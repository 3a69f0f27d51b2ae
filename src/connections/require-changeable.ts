import type { ConnectionType } from '../vocabulary/connection-types.ts';
import { isWeakerTls, type TlsMode } from '../vocabulary/tls-modes.ts';
import type { StoredSettings } from './connection-changes.ts';
import { ConnectionRejected } from './connection-rejected.ts';
import { type ConnectionSettings, requireSettingsOf } from './connection-settings.ts';
import { tlsOf } from './connection-tls.ts';
import { requireTunnel, type SshLogin, type Tunnelled } from './connection-tunnel.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** What of a connection is to change; what is absent stays. */
export interface ConnectionChanges extends ConnectionSettings, Tunnelled {
  /** What was changed: throws {@link EditConflict} where the connection has another version by now. */
  version?: number;
  /** `direct` takes a tunnel away; without it one that stands stays. */
  type?: ConnectionType;
  name?: string;
  address?: DatabaseAddress;
  password?: string;
  tls?: TlsMode;
  every?: number;
}

/** The encryption that a connection has after a change. A socket has no TLS, so nothing follows from what it had. */
export function tlsAfter(before: StoredSettings, type: string, wanted: TlsMode | undefined): TlsMode {
  const sameKind = (type === 'unix_socket') === (before.connection_type === 'unix_socket');
  return tlsOf(type, wanted ?? (sameKind ? before.tls : undefined));
}

/** Throws a {@link ConnectionRejected} for changes that the connection can't have; gives the type that it gets by them. */
export function requireChangeable(before: StoredSettings, changes: ConnectionChanges): string {
  const { address = before, ssh, sshKey, password } = changes;
  requireSameEngine(before, address);
  requireSettingsOf(before.engine, changes);
  const type = typeAfter(before, changes);
  // Without its tunnel a name is another server's, too.
  const otherWay = ssh !== undefined || type !== before.connection_type;
  if (password === undefined && before.has_password) {
    requireSameHost(before, address, otherWay);
    requireAsProtected(before, changes, tlsAfter(before, type, changes.tls));
  }
  requireTunnel(type === 'ssh_tunnel', changes);
  if (sshKey === undefined && ssh && before.has_ssh_key) requireSameSshServer(before, ssh);
  return type;
}

function typeAfter(before: StoredSettings, { address, ssh, type }: ConnectionChanges): string {
  const named = address?.connection_type ?? before.connection_type;
  if (ssh && named === 'unix_socket')
    throw new ConnectionRejected('ssh', 'An SSH server goes with a host, not with a socket.');
  if (type === 'direct' && named !== 'unix_socket') return 'direct';
  const stays = before.connection_type === 'ssh_tunnel' && named === 'direct';
  return ssh || stays ? 'ssh_tunnel' : named;
}

// Another engine has other checks: tickets of those before would never be looked at again, and stand for ever.
function requireSameEngine({ engine }: StoredSettings, after: Pick<DatabaseAddress, 'engine'>): void {
  if ((engine === 'postgres') === (after.engine === 'postgres')) return;
  throw new ConnectionRejected(
    'engine',
    `The connection is to ${engine === 'postgres' ? 'PostgreSQL' : 'MySQL or MariaDB'}: add a new one for the other, and remove this one.`,
  );
}

function requireSameHost(
  before: StoredSettings,
  { host, port }: Pick<DatabaseAddress, 'host' | 'port'>,
  otherWay: boolean,
): void {
  if (!otherWay && before.host === host && before.port === port) return;
  throw new ConnectionRejected(
    'password',
    otherWay
      ? 'Give the password too: the stored one is not sent by another way.'
      : 'This leads to another host or port: give the password for it, the stored one is not sent there.',
  );
}

function requireAsProtected(before: StoredSettings, changes: ConnectionChanges, tls: TlsMode): void {
  const weaker = isWeakerTls(tls, before.tls);
  const exposed = changes.passwordExposable === true && !before.password_exposable;
  // Another certificate is another server that is believed; a key of MySQL's is who may decrypt the password.
  const { caCertificate = before.ca_certificate } = changes;
  if (!weaker && !exposed && caCertificate === before.ca_certificate) return;
  throw new ConnectionRejected(
    'password',
    'This changes how the password is protected on its way: enter the password again.',
  );
}

function requireSameSshServer(before: StoredSettings, { username, host, port }: SshLogin): void {
  if (before.ssh_username === username && before.ssh_host === host && before.ssh_port === port) return;
  throw new ConnectionRejected(
    'ssh',
    'This leads to another SSH server or user: give the private key again, the stored one is not used there.',
  );
}
