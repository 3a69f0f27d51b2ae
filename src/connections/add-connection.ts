import type { ChangeAccount } from '../activity/record-entry.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { one } from '../store/one.ts';
import { PAGE_LINKS } from '../vocabulary/page-paths.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';
import { type CollectedBy, leaveToCollector } from './collected-connection.ts';
import { type ConnectionRow, readConnection } from './connection-row.ts';
import { type ConnectionSettings, DEFAULT_PULSE_SECONDS, requireSettingsOf } from './connection-settings.ts';
import { changedThresholds } from './connection-thresholds.ts';
import { requireAuthority } from './connection-tls.ts';
import { requireTokenLogin } from './connection-token.ts';
import { requireTunnel, storeTunnel, type Tunnelled } from './connection-tunnel.ts';
import type { DatabaseAddress } from './connection-url.ts';
import { storeSecrets } from './credentials.ts';
import { requireOrderAtEnd } from './thresholds/require-order.ts';

const insert = `
  with added as (
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at,
                            thresholds, expected_standbys, password_exposable, ca_certificate, token_source, query_texts,
                            pulse_seconds, backup_expected_seconds, backup_expected_since)
    values ($1, $2, $15, $3, $4, $5, $6, $7, $8, $9, $11, $12, $13, $14, $16, $17, $18, $19, case when $19 > 0 then $9::timestamptz end)
    returning account_id, connection_id
  )
  insert into connection_schedule (account_id, connection_id, every, due_at)
  select account_id, connection_id, make_interval(secs => $10), $9 from added
  returning connection_id as id`;

/**
 * Adds a connection without contacting the database. Its first check is due now, and then every `every` seconds. With `collectedBy` the
 * address is `collectedAddress`, and no secret is stored.
 */
export async function addConnection(
  change: ChangeAccount,
  secret: SecretKeys,
  wanted: DatabaseAddress &
    ConnectionSettings &
    Tunnelled & { name: string; tls: TlsMode; every: number; collectedBy?: CollectedBy },
): Promise<ConnectionRow> {
  requireSettingsOf(wanted.engine, wanted);
  requireAuthority(wanted.tls, wanted.caCertificate);
  requireTunnel(wanted.ssh !== undefined, wanted);
  if (wanted.tokenSource) requireTokenLogin(wanted);
  return change(async (within) => {
    const { accountId, client, at, record } = within;
    const { name, connection_type, host, port, database, username, tls, every, password } = wanted;
    const { thresholds = {}, expectedStandbys = 0, passwordExposable = false, caCertificate } = wanted;
    const { tokenSource = null, queryTexts = false, pulseSeconds = DEFAULT_PULSE_SECONDS } = wanted;
    const { backupExpectedSeconds = 0 } = wanted;
    const { rows } = await client.query<{ id: number }>(insert, [
      accountId,
      name,
      connection_type,
      host,
      port,
      database,
      username,
      tls,
      at,
      every,
      changedThresholds({}, thresholds),
      expectedStandbys,
      passwordExposable,
      caCertificate,
      wanted.engine,
      tokenSource,
      queryTexts,
      pulseSeconds,
      backupExpectedSeconds,
    ]);
    const { id: connectionId } = one(rows, 'store a connection');
    await storeTunnel(client, { accountId, connectionId }, wanted);
    if (Object.keys(thresholds).length > 0) {
      const checks = { ids: Object.keys(thresholds) };
      requireOrderAtEnd(within, { connectionIds: [connectionId], tag: '', checks });
    }
    const key = { accountId, connectionId };
    if (wanted.collectedBy) await leaveToCollector(client, key, wanted.collectedBy);
    else await storeSecrets(client, secret, key, { password, sshKey: wanted.sshKey ?? null });
    record('connection_added', PAGE_LINKS.connection(connectionId), {
      connection_id: connectionId,
      name,
      host,
      port,
      connection_type: wanted.ssh ? 'ssh_tunnel' : connection_type,
    });
    return readConnection(client, accountId, connectionId);
  });
}
