import type pg from 'pg';
import type { ChangeAccount } from '../activity/record-entry.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { EditConflict, invalidParameter, notFound } from '../platform/rejection.ts';
import { storeChanges } from '../runs/changes/store-changes.ts';
import { forgetQueryTexts } from '../runs/queries/store-queries.ts';
import { PAGE_LINKS } from '../vocabulary/page-paths.ts';
import { changesBetween, settingsOf } from './connection-changes.ts';
import { type ConnectionRow, readConnection } from './connection-row.ts';
import { changedThresholds } from './connection-thresholds.ts';
import { tlsOf } from './connection-tls.ts';
import { storeTunnel } from './connection-tunnel.ts';
import { readSecrets, type Secrets, storeSecrets, TamperedConnection } from './credentials.ts';
import { type ConnectionChanges, requireChangeable, tlsAfter } from './require-changeable.ts';
import { thresholdChangesBetween } from './threshold-changes.ts';
import { requireOrderAtEnd } from './thresholds/require-order.ts';

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
         engine              = coalesce($14, engine),
         token_source        = case when $17 then $16 else token_source end,
         query_texts         = coalesce($18, query_texts),
         pulse_seconds       = coalesce($19, pulse_seconds),
         backup_expected_seconds = coalesce($20, backup_expected_seconds),
         backup_expected_since   = case when $20 > 0 and backup_expected_seconds = 0 then $21 else backup_expected_since end
   where account_id = $1 and connection_id = $2`;

// A change of the route is checked immediately.
const reschedule = `
  update connection_schedule
     set every  = coalesce(make_interval(secs => $3), every),
         due_at = case when $4 then clock_timestamp()
                       else least(due_at, clock_timestamp() + make_interval(secs => $3)) end
   where account_id = $1 and connection_id = $2`;

/**
 * Changes a connection and encrypts its secrets for the new settings. A change that would send the stored password to
 * another server, or less protected, requires the password again. Throws a {@link Rejection} without it.
 */
export async function changeConnection(
  change: ChangeAccount,
  secret: SecretKeys,
  connectionId: number,
  wanted: ConnectionChanges,
): Promise<ConnectionRow> {
  return change(async (within) => {
    const { accountId, client, at, author, record } = within;
    const ids = [accountId, connectionId];
    const key = { accountId, connectionId };
    const before = await settingsOf(client, accountId, connectionId);
    if (before === null) throw notFound('connection', connectionId);
    if (wanted.version !== undefined && wanted.version !== before.version) throw new EditConflict();
    const reached = WAY.some((part) => wanted[part] !== undefined);
    // Sample data has no secrets, so its settings are not bound to any.
    const isSample = before.every === null && wanted.password === undefined && wanted.sshKey === undefined;
    const { changes, secrets } =
      reached && !isSample
        ? await trustedChanges(wanted, () => readSecrets(client, secret, key))
        : { changes: wanted, secrets: null };
    const { name, address, password, tls, every, thresholds = {}, sshKey } = changes;
    const { expectedStandbys, passwordExposable, caCertificate, tokenSource, queryTexts, pulseSeconds } =
      changes;
    const { backupExpectedSeconds } = changes;
    const type = requireChangeable(before, changes);
    await client.query(update, [
      ...[...ids, name, type, address?.host, address?.port],
      ...[address?.database, address?.username, tlsAfter(before, type, tls)],
      ...[changedThresholds(before.thresholds, thresholds)],
      ...[expectedStandbys, passwordExposable, caCertificate, address?.engine, caCertificate !== undefined],
      ...[tokenSource, tokenSource !== undefined, queryTexts, pulseSeconds],
      ...[backupExpectedSeconds, at],
    ]);
    if (queryTexts === false) await forgetQueryTexts(client, accountId, connectionId);
    if (Object.keys(thresholds).length > 0) {
      const checks = { ids: Object.keys(thresholds) };
      requireOrderAtEnd(within, { connectionIds: [connectionId], tag: '', checks });
    }
    await storeTunnel(client, key, changes);
    if (secrets) await storeSecrets(client, secret, key, { ...secrets, ...changedSecrets(changes) });
    if (reached || every !== undefined) await scheduleAgain(client, key, { every, reached });
    const after = await settingsOf(client, accountId, connectionId);
    const connection = await readConnection(client, accountId, connectionId);
    await storeChanges(client, { ...key, at }, after ? thresholdChangesBetween(before, after, author) : []);
    record('connection_changed', PAGE_LINKS.connection(connectionId), {
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

/** Makes a run due if the connection is reached in another way, and changes the interval. Fails for sample data. */
async function scheduleAgain(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  { every, reached }: { every: number | undefined; reached: boolean },
): Promise<void> {
  const { rowCount } = await client.query(reschedule, [accountId, connectionId, every, reached]);
  if (rowCount === 0 && every !== undefined) {
    throw invalidParameter(
      'interval_seconds',
      `Connection ${connectionId} is sample data and is never checked: its interval can't be changed.`,
    );
  }
}

function changedSecrets({ tokenSource, password, sshKey }: ConnectionChanges): Partial<Secrets> {
  return {
    ...(tokenSource && { password: null }),
    ...(password !== undefined && { password }),
    ...(sshKey !== undefined && { sshKey }),
  };
}

/** The settings that determine where and how secrets are sent. */
const WAY = [
  'type',
  'address',
  'password',
  'tls',
  'caCertificate',
  'ssh',
  'sshKey',
  'passwordExposable',
  'tokenSource',
] as const;

/**
 * The changes and the stored secrets to apply them to. If the stored settings can't be trusted, they are all discarded:
 * absent fields get the defaults of a new connection.
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
    if (!address || password === undefined) throw invalidParameter('password', error.message);
    const type = ssh ? ('ssh_tunnel' as const) : address.connection_type;
    const anew = {
      type,
      tls: tlsOf(type, tls),
      passwordExposable: false,
      caCertificate: null,
      tokenSource: null,
    };
    return { changes: { ...anew, ...changes }, secrets: { password: null, sshKey: null } };
  }
}
