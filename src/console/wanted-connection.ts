import { everyCheck } from '../checks/catalogue.ts';
import { RefusedConnection } from '../monitor/connection-refusal.ts';
import { type ConnectionSettings, certificatesIn } from '../monitor/connection-settings.ts';
import { requireThresholds } from '../monitor/connection-thresholds.ts';
import { requirePrivateKey, type Tunnelled } from '../monitor/connection-tunnel.ts';
import { addressOf, type DatabaseAddress, parseConnectionUrl } from '../monitor/connection-url.ts';
import type { ConnectionChange, NewConnection, TestedConnection } from './connections.ts';

type Body = TestedConnection | NewConnection | ConnectionChange;

/** Where the database is, as the body has it; null where it names none. The password goes before the one of the URL. */
export function addressIn({ url, address, password }: Body): DatabaseAddress | null {
  if (url !== undefined && address !== undefined)
    throw new RefusedConnection('url', 'Give either the URL or the fields of the address.');
  const named = url === undefined ? address && addressOf(address) : parseConnectionUrl(url);
  return named === undefined ? null : { ...named, password: password ?? named.password };
}

/** {@link addressIn}, which there must be. */
export function requireAddress(body: Body): DatabaseAddress {
  const address = addressIn(body);
  if (!address) throw new RefusedConnection('url', 'Give the URL, or the fields of the address.');
  return address;
}

/** What the body sets beside the address. Throws a {@link RefusedConnection}. */
export function settingsIn(body: Body): ConnectionSettings {
  const { thresholds, expected_standbys, password_exposable, ca_certificate } = body;
  if (thresholds) requireThresholds(thresholds, everyCheck);
  return {
    ...(thresholds && { thresholds }),
    ...(expected_standbys !== undefined && { expectedStandbys: expected_standbys }),
    ...(password_exposable !== undefined && { passwordExposable: password_exposable }),
    ...(ca_certificate !== undefined && { caCertificate: certificatesIn(ca_certificate) }),
  };
}

/**
 * The tunnel of the body. A member's has a key of its own, given now or `stored`: the service's SSH agent is the operator's,
 * and would open other servers than the account's. Throws a {@link RefusedConnection}.
 */
export function tunnelIn({ ssh }: Body, stored: boolean): Tunnelled {
  if (!ssh) return {};
  const { username, host, port = 22, key } = ssh;
  if (key === undefined && !stored)
    throw new RefusedConnection('ssh', 'Give the private key that the SSH server lets in.');
  return { ssh: { username, host, port }, ...(key !== undefined && { sshKey: requirePrivateKey(key) }) };
}
