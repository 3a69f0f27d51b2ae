import { everyCheck } from '../../checks/catalogue.ts';
import {
  certificatesIn,
  type ConnectionSettings as WantedSettings,
} from '../../connections/connection-settings.ts';
import { requireThresholds } from '../../connections/connection-thresholds.ts';
import { requirePrivateKey, type Tunnelled } from '../../connections/connection-tunnel.ts';
import { addressOf, type DatabaseAddress, parseConnectionUrl } from '../../connections/connection-url.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { isShippedAuthority } from '../../vocabulary/hosted/authorities.ts';
import type { ConsoleParts } from '../route.ts';
import type {
  ConnectionChange,
  ConnectionSettings,
  NewConnection,
  TestedConnection,
} from './connection-schemas.ts';

type Body = TestedConnection | NewConnection | ConnectionChange;

/** The address in the body; null when there is none. The password field overrides the one in the URL. */
export function addressIn({ url, address, password }: Body): DatabaseAddress | null {
  if (url !== undefined && address !== undefined)
    throw invalidParameter('url', 'Enter either a URL or separate fields, not both.');
  const named = url === undefined ? address && addressOf(address) : parseConnectionUrl(url);
  return named === undefined ? null : { ...named, password: password ?? named.password };
}

/** Like {@link addressIn}, but throws when there is no address. */
export function requireAddress(body: Body): DatabaseAddress {
  const address = addressIn(body);
  if (!address) throw invalidParameter('url', 'Enter a URL or separate fields.');
  return address;
}

/**
 * Throws a {@link Rejection} for a Unix socket, unless the operator allows members to name one or it is `stored` as it is: the
 * database takes the service's own operating-system user for the login (`peer`), which is the operator's to lend.
 */
export function requireNoSocket(
  body: Body,
  address: DatabaseAddress | null,
  { allowConsoleSockets }: Pick<ConsoleParts, 'allowConsoleSockets'>,
  stored?: Pick<ConnectionSettings, (typeof PLACE)[number]>,
): void {
  if (address?.connection_type !== 'unix_socket' || allowConsoleSockets) return;
  if (stored && PLACE.every((part) => stored[part] === address[part])) return;
  throw invalidParameter(
    body.url === undefined ? 'host' : 'url',
    'Through a Unix socket, dbvitals logs in as its own operating-system user. Add the connection with "dbvitals connection add", or ask the operator to set DBVITALS_ALLOW_CONSOLE_SOCKETS to yes.',
  );
}

/**
 * Throws a {@link Rejection} when a member changes where a token is sent, or how: the operator's command prints it,
 * and it opens every database of its owner.
 */
export function requireOwnWay(
  body: ConnectionChange,
  { token_source }: Pick<ConnectionSettings, 'token_source'>,
): void {
  if (token_source === null) return;
  const touched = WAY.find((field) => body[field] !== undefined);
  if (touched === undefined) return;
  throw invalidParameter(
    touched,
    'This connection logs in by a token of the operator: only "dbvitals connection change" changes its address and login.',
  );
}

const WAY = ['url', 'address', 'password', 'tls', 'password_exposable', 'ca_certificate', 'ssh'] as const;

const PLACE = ['engine', 'connection_type', 'host', 'port', 'database', 'username'] as const;

/** The settings in the body other than the address. Throws a {@link Rejection}. */
export function settingsIn(body: Body): WantedSettings {
  const { thresholds, expected_standbys, query_texts, pulse_seconds, password_exposable, ca_certificate } =
    body;
  const { backup_expected_seconds } = body;
  if (thresholds) requireThresholds(thresholds, everyCheck);
  return {
    ...(thresholds && { thresholds }),
    ...(expected_standbys !== undefined && { expectedStandbys: expected_standbys }),
    ...(query_texts !== undefined && { queryTexts: query_texts }),
    ...(pulse_seconds !== undefined && { pulseSeconds: pulse_seconds }),
    ...(backup_expected_seconds !== undefined && { backupExpectedSeconds: backup_expected_seconds }),
    ...(password_exposable !== undefined && { passwordExposable: password_exposable }),
    ...(ca_certificate !== undefined && { caCertificate: authoritiesIn(ca_certificate.trim()) }),
  };
}

/** The certificates of a PEM text, or the name of authorities that dbvitals ships. */
function authoritiesIn(text: string): string {
  return isShippedAuthority(text) ? text : certificatesIn(text);
}

/**
 * The tunnel in the body. A member's tunnel needs its own key, sent now or `stored`: the service's SSH agent belongs to
 * the operator and may open servers of other accounts. Throws a {@link Rejection}.
 */
export function tunnelIn({ ssh }: Body, stored: boolean): Tunnelled {
  if (!ssh) return {};
  const { username, host, port = 22, key } = ssh;
  if (key === undefined && !stored)
    throw invalidParameter('ssh', 'Enter a private key that the SSH server accepts.');
  return { ssh: { username, host, port }, ...(key !== undefined && { sshKey: requirePrivateKey(key) }) };
}
