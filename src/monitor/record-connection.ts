import type { ChangeAccount } from '../activity/record-entry.ts';
import { resolveTicketsOf } from '../ops/record-findings.ts';
import { changesBetween, type StoredSettings, settingsOf } from './connection-changes.ts';
import { NoConnection, RefusedConnection } from './connection-refusal.ts';
import { type ConnectionRow, readConnection } from './connection-row.ts';
import { type ConnectionSettings, requireSettingsOf } from './connection-settings.ts';
import { changedThresholds } from './connection-thresholds.ts';
import { type Seal, storeTunnel, type Tunnelled } from './connection-tunnel.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** How a connection is encrypted; a Unix socket never is. */
export const TLS = ['verify-full', 'require', 'disable'] as const;
export type Tls = (typeof TLS)[number];

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

const storeCredential = `
  update connection set credential = $3
   where account_id = $1 and connection_id = $2`;

/** Adds a connection that is due at once every `every` seconds. The database is not contacted. */
export async function addConnection(
  change: ChangeAccount,
  seal: Seal,
  wanted: DatabaseAddress & ConnectionSettings & Tunnelled & { name: string; tls: Tls; every: number },
): Promise<ConnectionRow> {
  requireSettingsOf(wanted.engine, wanted);
  return change(async ({ accountId, client, at, record }) => {
    const { name, connection_type, host, port, database, username, tls, every, password } = wanted;
    const { thresholds = {}, expectedStandbys = 0, passwordExposable = false, caCertificate } = wanted;
    const { rows } = await client.query<{ id: number }>(insert, [
      ...[accountId, name, connection_type, host, port, database, username, tls, at, every],
      ...[changedThresholds({}, thresholds), expectedStandbys, passwordExposable, caCertificate],
      wanted.engine,
    ]);
    const connectionId = rows[0]?.id ?? 0;
    if (password !== null) {
      const sealed = await seal(client, { accountId, connectionId }, password);
      await client.query(storeCredential, [accountId, connectionId, sealed]);
    }
    await storeTunnel(client, seal, { accountId, connectionId }, wanted);
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
  type?: 'direct' | 'ssh_tunnel' | 'unix_socket';
  name?: string;
  address?: DatabaseAddress;
  password?: string;
  tls?: Tls;
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
         credential          = coalesce($10, credential),
         thresholds          = $11,
         expected_standbys   = coalesce($12, expected_standbys),
         password_exposable  = coalesce($13, password_exposable),
         ca_certificate      = case when $16 then $14 else ca_certificate end,
         engine              = coalesce($15, engine),
         ssh_credential      = case $4 when 'ssh_tunnel' then ssh_credential end
   where account_id = $1 and connection_id = $2`;

// What was changed about the way there is tried at once.
const reschedule = `
  update connection_schedule
     set every  = coalesce(make_interval(secs => $3), every),
         due_at = case when $4 then clock_timestamp()
                       else least(due_at, clock_timestamp() + make_interval(secs => $3)) end
   where account_id = $1 and connection_id = $2`;

/**
 * Changes a connection. A new URL without a password keeps the stored one, where it leads to the same host and port:
 * else it throws a {@link RefusedConnection}, so that no password goes to a host that it was not meant for.
 */
export async function changeConnection(
  change: ChangeAccount,
  seal: Seal,
  connectionId: number,
  changes: ConnectionChanges,
): Promise<ConnectionRow> {
  const { name, address, password, tls, every, thresholds = {} } = changes;
  const { expectedStandbys, passwordExposable, caCertificate, ssh, sshKey } = changes;
  return change(async ({ accountId, client, record }) => {
    const ids = [accountId, connectionId];
    const before = await settingsOf(client, accountId, connectionId);
    if (before === null) throw new NoConnection(connectionId);
    if (changes.version !== undefined && changes.version !== before.version) throw new ChangedMeanwhile();
    const type = requireChangeable(before, changes);
    const known =
      (type === 'unix_socket') === (before.connection_type === 'unix_socket') ? before.tls : undefined;
    const sealed = password && (await seal(client, { accountId, connectionId }, password));
    await client.query(update, [
      ...[...ids, name, type, address?.host, address?.port],
      ...[address?.database, address?.username, tlsOf(type, tls ?? known), sealed],
      ...[changedThresholds(before.thresholds, thresholds)],
      ...[expectedStandbys, passwordExposable, caCertificate, address?.engine, caCertificate !== undefined],
    ]);
    await storeTunnel(client, seal, { accountId, connectionId }, changes);
    const way = [address, password, tls, caCertificate, ssh, sshKey, passwordExposable];
    const reached = way.some((part) => part !== undefined);
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

/** Throws a {@link RefusedConnection} for changes that the connection can't have; gives the type that it gets by them. */
export function requireChangeable(before: StoredSettings, changes: ConnectionChanges): string {
  const { address = before, ssh, password } = changes;
  requireSameEngine(before, address);
  requireSettingsOf(before.engine, changes);
  const type = typeAfter(before, changes);
  // Without its tunnel a name is another server's, too.
  const otherWay = ssh !== undefined || type !== before.connection_type;
  if (password === undefined) requireSameHost(before, address, otherWay);
  return type;
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
  if (!before.has_password || (!otherWay && before.host === host && before.port === port)) return;
  throw new RefusedConnection(
    'password',
    otherWay
      ? 'Give the password too: the stored one is not sent by another way.'
      : 'This leads to another host or port: give the password for it, the stored one is not sent there.',
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
export function tlsOf(connectionType: string, wanted: Tls | undefined): Tls {
  if (connectionType !== 'unix_socket') return wanted ?? 'verify-full';
  if (wanted === undefined || wanted === 'disable') return 'disable';
  throw new RefusedConnection('tls', 'A Unix socket has no TLS: leave it out.');
}

function pageOf(connectionId: number): string {
  return `/connections/${connectionId}`;
}
