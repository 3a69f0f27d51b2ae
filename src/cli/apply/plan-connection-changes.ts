import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { changeConnection } from '../../connections/change-connection.ts';
import {
  changesBetween,
  type StoredConnection,
  type StoredSettings,
} from '../../connections/connection-changes.ts';
import type { ConnectionThresholds, ThresholdChanges } from '../../connections/connection-thresholds.ts';
import { trustedSecrets } from '../../connections/credentials.ts';
import { type ConnectionChanges, requireChangeable } from '../../connections/require-changeable.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import type { Step } from './apply-step.ts';
import type { ReadFile } from './configuration-file.ts';
import type { DesiredConnection } from './parse-connections.ts';
import type { Silenced } from './plan-silences.ts';

/** The secret keys, and the file to note problems of connections. */
export interface Tools {
  secret: SecretKeys;
  file: ReadFile;
}

/** The step that brings a stored connection to the desired state; null if it is already there. */
export async function alteration(
  client: pg.ClientBase,
  { id: accountId, name: account }: Silenced['account'],
  { id, ...before }: StoredConnection,
  wanted: DesiredConnection,
  { file, secret }: Tools,
): Promise<Step | null> {
  const { address, name, path, ssh } = wanted;
  if (before.collector !== wanted.collector) {
    const by = before.collector === null ? 'the service itself' : `collector ${before.collector}`;
    file.problem(path, `It is measured by ${by}, which can't be changed: remove it and add it again.`);
    return null;
  }
  const isCollected = before.collector !== null;
  const key = { accountId: accountId ?? 0, connectionId: id };
  const stored = isCollected ? null : await trustedSecrets(client, secret, key);
  const hasSecrets = before.every !== null && !isCollected; // sample data has none
  const newPassword = address.password !== null && address.password !== stored?.password;
  const newKey = wanted.sshKey !== null && wanted.sshKey !== stored?.sshKey;
  const { changed, from, to } = changesBetween(before, settingsAfter(before, wanted), newPassword);
  if (newKey) changed.push('ssh_key');
  if (changed.length === 0) return null;

  // If somebody tampered with the stored connection, all its settings are replaced.
  const anew = stored === null && hasSecrets;
  const has = (...fields: string[]) => anew || fields.some((field) => changed.includes(field));
  // A stored secret is not sent over another route: if the route changes, the secret is stored again.
  const otherSsh = has('ssh_username', 'ssh_host', 'ssh_port');
  const otherWay =
    otherSsh || has('host', 'port', 'connection_type', 'tls', 'password_exposable', 'ca_certificate');
  const tunnelled = before.connection_type === 'ssh_tunnel';
  const changes: ConnectionChanges = {
    ...((newPassword || has('engine', 'connection_type', 'host', 'port', 'database', 'username')) && {
      address,
    }),
    ...(has('connection_type') && tunnelled && !ssh && { type: address.connection_type }),
    ...(ssh && (otherSsh || has('connection_type')) && { ssh }),
    ...((newKey || otherSsh) && wanted.sshKey !== null && { sshKey: wanted.sshKey }),
    ...((newPassword || otherWay) && address.password !== null && { password: address.password }),
    ...(has('tls') && { tls: wanted.tls }),
    ...(has('every') && { every: wanted.every }),
    ...(has('thresholds') && { thresholds: thresholdChanges(before.thresholds, wanted.thresholds) }),
    ...(has('expected_standbys') && { expectedStandbys: wanted.expectedStandbys }),
    ...(has('pulse') && { pulseSeconds: wanted.pulseSeconds }),
    ...(has('backup_expected') && { backupExpectedSeconds: wanted.backupExpectedSeconds }),
    ...(has('query_texts') && { queryTexts: wanted.queryTexts }),
    ...(has('password_exposable') && { passwordExposable: wanted.passwordExposable }),
    ...(has('token_source') && { tokenSource: wanted.tokenSource }),
    ...(has('ca_certificate') && { caCertificate: wanted.caCertificate }),
  };
  file.attempt(path, () => requireChangeable(before, changes));
  return {
    difference: { action: 'change', what: 'connection', account, name, changed, from, to },
    make: (change) => changeConnection((work) => work(change), secret, id, changes),
  };
}

function settingsAfter(before: StoredSettings, wanted: DesiredConnection): StoredSettings {
  const { address, tls, every, thresholds, expectedStandbys, queryTexts, ssh } = wanted;
  const { passwordExposable, caCertificate } = wanted;
  const { engine, connection_type, host, port, database, username } = address;
  return {
    ...before,
    engine,
    host,
    port,
    database,
    username,
    tls,
    connection_type: ssh ? 'ssh_tunnel' : connection_type,
    // The names may be in another order in the store.
    thresholds: isDeepStrictEqual(before.thresholds, thresholds) ? before.thresholds : thresholds,
    expected_standbys: expectedStandbys,
    query_texts: queryTexts,
    pulse_seconds: wanted.pulseSeconds,
    backup_expected_seconds: wanted.backupExpectedSeconds,
    password_exposable: passwordExposable,
    ca_certificate: caCertificate,
    token_source: wanted.tokenSource,
    ...(ssh && { ssh_username: ssh.username, ssh_host: ssh.host, ssh_port: ssh.port }),
    every: before.every === null ? null : every, // sample data is never checked
  };
}

/** Stored thresholds that the file does not contain are reset to the defaults. */
function thresholdChanges(stored: ConnectionThresholds, wanted: ConnectionThresholds): ThresholdChanges {
  const ids = new Set([...Object.keys(stored), ...Object.keys(wanted)]);
  const undone = (id: string) =>
    Object.fromEntries(Object.keys(stored[id] ?? {}).map((name) => [name, null]));
  return Object.fromEntries([...ids].map((id) => [id, { ...undone(id), ...wanted[id] }]));
}
