import { invalidParameter } from '../platform/rejection.ts';
import type { ConnectionType } from '../vocabulary/connection-types.ts';
import { familyOf, traitsOf } from '../vocabulary/engines.ts';
import { isWeakerTls, type TlsMode } from '../vocabulary/tls-modes.ts';
import type { StoredSettings } from './connection-changes.ts';
import { type ConnectionSettings, requireSettingsOf } from './connection-settings.ts';
import { requireAuthority, tlsOf } from './connection-tls.ts';
import { requireTokenLogin } from './connection-token.ts';
import { requireTunnel, type SshLogin, type Tunnelled } from './connection-tunnel.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** Changes to a connection; absent fields keep their values. */
export interface ConnectionChanges extends ConnectionSettings, Tunnelled {
  /** The version that the caller edited. If the connection has another version now, {@link EditConflict} is thrown. */
  version?: number;
  /** `direct` removes the tunnel; absent keeps it. */
  type?: ConnectionType;
  name?: string;
  address?: DatabaseAddress;
  password?: string;
  tls?: TlsMode;
  every?: number;
}

/** The TLS mode after a change. The old mode is kept unless the connection changes to or from a Unix socket. */
export function tlsAfter(before: StoredSettings, type: string, wanted: TlsMode | undefined): TlsMode {
  const sameKind = (type === 'unix_socket') === (before.connection_type === 'unix_socket');
  return tlsOf(type, wanted ?? (sameKind ? before.tls : undefined));
}

/** Returns the connection's new type. Throws a {@link Rejection} for changes that are not allowed. */
export function requireChangeable(before: StoredSettings, changes: ConnectionChanges): string {
  const { address = before, ssh, sshKey, password } = changes;
  requireSameEngine(before, address);
  requireSettingsOf(before.engine, changes);
  const type = typeAfter(before, changes);
  // The same host name can be another server without the tunnel.
  const otherWay = ssh !== undefined || type !== before.connection_type;
  const tls = tlsAfter(before, type, changes.tls);
  requireAuthority(tls, changes.caCertificate === undefined ? before.ca_certificate : changes.caCertificate);
  if (password === undefined && before.has_password) {
    requireSameHost(before, address, otherWay);
    requireAsProtected(before, changes, tls);
  }
  const { tokenSource = before.token_source } = changes;
  if (tokenSource !== null)
    requireTokenLogin({
      host: address.host,
      password: password ?? null,
      tls,
    });
  requireTunnel(type === 'ssh_tunnel', changes);
  if (sshKey === undefined && ssh && before.has_ssh_key) requireSameSshServer(before, ssh);
  return type;
}

function typeAfter(before: StoredSettings, { address, ssh, type }: ConnectionChanges): string {
  const named = address?.connection_type ?? before.connection_type;
  if (ssh && named === 'unix_socket')
    throw invalidParameter('ssh', 'An SSH tunnel needs a host, not a Unix socket.');
  if (type === 'direct' && named !== 'unix_socket') return 'direct';
  const stays = before.connection_type === 'ssh_tunnel' && named === 'direct';
  return ssh || stays ? 'ssh_tunnel' : named;
}

// Another engine has other checks, so open tickets of the old checks would never be resolved.
function requireSameEngine({ engine }: StoredSettings, after: Pick<DatabaseAddress, 'engine'>): void {
  if (familyOf(engine) === familyOf(after.engine)) return;
  throw invalidParameter(
    'engine',
    `This is a connection to ${traitsOf(engine).name}: remove it and add a new one for another engine.`,
  );
}

function requireSameHost(
  before: StoredSettings,
  { host, port }: Pick<DatabaseAddress, 'host' | 'port'>,
  otherWay: boolean,
): void {
  if (!otherWay && before.host === host && before.port === port) return;
  throw invalidParameter(
    'password',
    otherWay
      ? 'This changes the route to the database: enter the password again.'
      : 'This changes the host or port: enter its password, because the stored one is not sent there.',
  );
}

function requireAsProtected(before: StoredSettings, changes: ConnectionChanges, tls: TlsMode): void {
  const weaker = isWeakerTls(tls, before.tls);
  const exposed = changes.passwordExposable === true && !before.password_exposable;
  // Another certificate trusts another server; the holder of another MySQL public key can decrypt the password.
  const { caCertificate = before.ca_certificate } = changes;
  if (!weaker && !exposed && caCertificate === before.ca_certificate) return;
  throw invalidParameter(
    'password',
    'This changes how the password is protected in transit: enter the password again.',
  );
}

function requireSameSshServer(before: StoredSettings, { username, host, port }: SshLogin): void {
  if (before.ssh_username === username && before.ssh_host === host && before.ssh_port === port) return;
  throw invalidParameter(
    'ssh',
    'This changes the SSH server or user: enter the private key again, because the stored one is not used there.',
  );
}
