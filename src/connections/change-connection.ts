import type { ChangeAccount } from '../activity/record-entry.ts';
import type { SecretKeys } from '../database/encryption.ts';
import { one } from '../database/one.ts';
import { resolveTicketsOf } from '../ops/record-findings.ts';
import type { ConnectionType } from '../vocabulary/connection-types.ts';
import { isWeakerTls, type TlsMode } from '../vocabulary/tls-modes.ts';
import { changesBetween, type StoredSettings, settingsOf } from './connection-changes.ts';
import { NoConnection, RefusedConnection } from './connection-rejected.ts';
import { type ConnectionRow, readConnection } from './connection-row.ts';
import { readSecrets, storeSecrets } from './connection-secrets.ts';
import { type ConnectionSettings, requireSettingsOf } from './connection-settings.ts';
import { changedThresholds } from './connection-thresholds.ts';
import { type SshLogin, storeTunnel, type Tunnelled } from './connection-tunnel.ts';
import type { DatabaseAddress } from './connection-url.ts';
import { type Secrets, TamperedConnection } from './credentials.ts';

/** How a connection is encrypted; a Unix socket never is. */

const insert = `
  with added as (
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at,
                            thresholds, expected_standbys, password_exposable, ca_certificate)
    values ($1, $2, $15, $3, $4, $5, $6, $7, $8, $9, $11, $12, $13, $14)
    returning account_id, connection_id
  )
  insert into connection_schedule (account_id, connection_id, every, due_at)
  select account_id, connection_id, make_interval(secs => $10), $9 from added
  returning connection_id as id`;

/** Adds a connection that is due at once every `every` seconds. The database is not contacted. */
export async function addConnection(
  change: ChangeAccount,
  secret: SecretKeys,
  wanted: DatabaseAddress & ConnectionSettings & Tunnelled & { name: string; tls: TlsMode; every: number },
): Promise<ConnectionRow> {
  requireSettingsOf(wanted.engine, wanted);
  requireTunnel(wanted.ssh !== undefined, wanted);
  return change(async ({ accountId, client, at, record }) => {
    const { name, connection_type, host, port, database, username, tls, every, password } = wanted;
    const { thresholds = {}, expectedStandbys = 0, passwordExposable = false, caCertificate } = wanted;
    const { rows } = await client.query<{ id: number }>(insert, [
      ...[accountId, name, connection_type, host, port, database, username, tls, at, every],
      ...[changedThresholds({}, thresholds), expectedStandbys, passwordExposable, caCertificate],
      wanted.engine,
    ]);
    const { id: connectionId } = one(rows, 'store a connection');
    await storeTunnel(client, { accountId, connectionId }, wanted);
    const secrets = { password, sshKey: wanted.sshKey ?? null };
    await storeSecrets(client, secret, { accountId, connectionId }, secrets);
    record('connection_added', pageOf(connectionId), {
      connection_id: connectionId,
      name,
      host,
      port,
      connection_type: wanted.ssh ? 'ssh_tunnel' : connection_type,
    });
    return readConnection(client, accountId, connectionId);
  });
}

/** Somebody else changed the connection since the version that a change was made from. */
export class ChangedMeanwhile extends Error {}

/** What of a connection is to change; what is absent stays. */
export interface ConnectionChanges extends ConnectionSettings, Tunnelled {
  /** What was changed: throws {@link ChangedMeanwhile} where the connection has another version by now. */
  version?: number;
  /** `direct` takes a tunnel away; without it one that stands stays. */
  type?: ConnectionType;
  name?: string;
  address?: DatabaseAddress;
  password?: string;
  tls?: TlsMode;
  every?: number;
}

const update = `
  update connection
     set name                = coalesce($3, name),
         connection_type     = coalesce($4, connection_type),
         host                = coalesce($5, host),
         port                = coalesce($6, port),
         database            = coalesce($7, database),
         username            = coalesce($8, username),
         tls                 = $9,
         thresholds          = $10,
         expected_standbys   = coalesce($11, expected_standbys),
         password_exposable  = coalesce($12, password_exposable),
         ca_certificate      = case when $15 then $13 else ca_certificate end,
         engine              = coalesce($14, engine)
   where account_id = $1 and connection_id = $2`;

// What was changed about the way there is tried at once.
const reschedule = `
  update connection_schedule
     set every  = coalesce(make_interval(secs => $3), every),
         due_at = case when $4 then clock_timestamp()
                       else least(due_at, clock_timestamp() + make_interval(secs => $3)) end
   where account_id = $1 and connection_id = $2`;

/**
 * Changes a connection, and encrypts its secrets for the settings that it has then. A change that would send the stored password
 * elsewhere or less protected needs the password again: else it throws a {@link RefusedConnection}.
 */
export async function changeConnection(
  change: ChangeAccount,
  secret: SecretKeys,
  connectionId: number,
  wanted: ConnectionChanges,
): Promise<ConnectionRow> {
  return change(async ({ accountId, client, record }) => {
    const ids = [accountId, connectionId];
    const key = { accountId, connectionId };
    const before = await settingsOf(client, accountId, connectionId);
    if (before === null) throw new NoConnection(connectionId);
    if (wanted.version !== undefined && wanted.version !== before.version) throw new ChangedMeanwhile();
    const reached = WAY.some((part) => wanted[part] !== undefined);
    // Sample data has no secrets, and nobody vouches for its settings.
    const isSample = before.every === null && wanted.password === undefined && wanted.sshKey === undefined;
    const { changes, secrets } =
      reached && !isSample
        ? await trustedChanges(wanted, () => readSecrets(client, secret, key))
        : { changes: wanted, secrets: null };
    const { name, address, password, tls, every, thresholds = {}, sshKey } = changes;
    const { expectedStandbys, passwordExposable, caCertificate } = changes;
    const type = requireChangeable(before, changes);
    await client.query(update, [
      ...[...ids, name, type, address?.host, address?.port],
      ...[address?.database, address?.username, tlsAfter(before, type, tls)],
      ...[changedThresholds(before.thresholds, thresholds)],
      ...[expectedStandbys, passwordExposable, caCertificate, address?.engine, caCertificate !== undefined],
    ]);
    await storeTunnel(client, key, changes);
    if (secrets) {
      const given = { ...(password !== undefined && { password }), ...(sshKey !== undefined && { sshKey }) };
      await storeSecrets(client, secret, key, { ...secrets, ...given });
    }
    if (reached || every !== undefined) {
      const { rowCount } = await client.query(reschedule, [...ids, every, reached]);
      if (rowCount === 0 && every !== undefined) {
        throw new RefusedConnection(
          'interval_seconds',
          `Connection ${connectionId} is sample data: nobody checks it, so how often can't be changed.`,
        );
      }
    }
    const after = await settingsOf(client, accountId, connectionId);
    const connection = await readConnection(client, accountId, connectionId);
    record('connection_changed', pageOf(connectionId), {
      connection_id: connectionId,
      name: connection.name,
      host: connection.host,
      port: connection.port,
      ...(after && changesBetween(before, after, password !== undefined)),
      ...(sshKey !== undefined && { ssh_key_changed: true }),
    });
    return connection;
  });
}

/** What decides where and how secrets are sent. */
const WAY = [
  'type',
  'address',
  'password',
  'tls',
  'caCertificate',
  'ssh',
  'sshKey',
  'passwordExposable',
] as const;

/**
 * The secrets that a change of the way goes on from. Where the stored settings can't be trusted, nothing of
 * them stays: what is not given is as of a new connection.
 */
async function trustedChanges(
  changes: ConnectionChanges,
  read: () => Promise<Secrets | null>,
): Promise<{ changes: ConnectionChanges; secrets: Secrets | null }> {
  try {
    return { changes, secrets: await read() };
  } catch (error) {
    if (!(error instanceof TamperedConnection)) throw error;
    const { address, password, ssh, tls } = changes;
    if (!address || password === undefined) throw new RefusedConnection('password', error.message);
    const type = ssh ? ('ssh_tunnel' as const) : address.connection_type;
    const anew = { type, tls: tlsOf(type, tls), passwordExposable: false, caCertificate: null };
    return { changes: { ...anew, ...changes }, secrets: { password: null, sshKey: null } };
  }
}

// A socket has no TLS, so what it had says nothing of what comes after it.
function tlsAfter(before: StoredSettings, type: string, wanted: TlsMode | undefined): TlsMode {
  const sameKind = (type === 'unix_socket') === (before.connection_type === 'unix_socket');
  return tlsOf(type, wanted ?? (sameKind ? before.tls : undefined));
}

/** Throws a {@link RefusedConnection} for changes that the connection can't have; gives the type that it gets by them. */
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

function requireTunnel(tunnelled: boolean, { sshKey }: Tunnelled): void {
  if (sshKey === undefined || tunnelled) return;
  throw new RefusedConnection('ssh', 'A private key goes with an SSH server: give both.');
}

function typeAfter(before: StoredSettings, { address, ssh, type }: ConnectionChanges): string {
  const named = address?.connection_type ?? before.connection_type;
  if (ssh && named === 'unix_socket')
    throw new RefusedConnection('ssh', 'An SSH server goes with a host, not with a socket.');
  if (type === 'direct' && named !== 'unix_socket') return 'direct';
  const stays = before.connection_type === 'ssh_tunnel' && named === 'direct';
  return ssh || stays ? 'ssh_tunnel' : named;
}

// Another engine has other checks: tickets of those before would never be looked at again, and stand for ever.
function requireSameEngine({ engine }: StoredSettings, after: Pick<DatabaseAddress, 'engine'>): void {
  if ((engine === 'postgres') === (after.engine === 'postgres')) return;
  throw new RefusedConnection(
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
  throw new RefusedConnection(
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
  throw new RefusedConnection(
    'password',
    'This changes how the password is protected on its way: enter the password again.',
  );
}

function requireSameSshServer(before: StoredSettings, { username, host, port }: SshLogin): void {
  if (before.ssh_username === username && before.ssh_host === host && before.ssh_port === port) return;
  throw new RefusedConnection(
    'ssh',
    'This leads to another SSH server or user: give the private key again, the stored one is not used there.',
  );
}

const remove = `
  update connection
     set removed_at = $3, credential = null, ssh_credential = null
   where account_id = $1 and connection_id = $2 and removed_at is null`;

const stopSchedule = `
  update connection_schedule set due_at = 'infinity'
   where account_id = $1 and connection_id = $2`;

/**
 * Removes a connection: it is no longer listed or watched, its password and its SSH key are forgotten, its tickets are
 * resolved. Throws {@link NoConnection}.
 */
export async function removeConnection(change: ChangeAccount, connectionId: number): Promise<ConnectionRow> {
  return change(async ({ accountId, client, at, record }) => {
    const ids = [accountId, connectionId];
    const { rowCount } = await client.query(remove, [...ids, at]);
    if (rowCount === 0) throw new NoConnection(connectionId);
    await client.query(stopSchedule, ids);
    const { id, name, host, port, ...row } = await readConnection(client, accountId, connectionId);
    record('connection_removed', pageOf(id), { connection_id: id, name, host, port });
    const reason = 'connection removed';
    for (const entry of await resolveTicketsOf(client, { accountId, connectionId, at, reason })) {
      record(entry.actionType, entry.pagePath, entry.properties);
    }
    return { id, name, host, port, ...row };
  });
}

/** The encryption of a connection of that type; verify-full unless told otherwise, none on a Unix socket. */
export function tlsOf(connectionType: string, wanted: TlsMode | undefined): TlsMode {
  if (connectionType !== 'unix_socket') return wanted ?? 'verify-full';
  if (wanted === undefined || wanted === 'disable') return 'disable';
  throw new RefusedConnection('tls', 'A Unix socket has no TLS: leave it out.');
}

function pageOf(connectionId: number): string {
  return `/connections/${connectionId}`;
}
