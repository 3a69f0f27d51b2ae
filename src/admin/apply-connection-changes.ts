import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { changesBetween, type StoredConnection, type StoredSettings } from '../monitor/connection-changes.ts';
import type { ConnectionThresholds, ThresholdChanges } from '../monitor/connection-thresholds.ts';
import { type ConnectionChanges, changeConnection, requireChangeable } from '../monitor/record-connection.ts';
import type { ReadFile } from './apply-file.ts';
import type { Silenced } from './apply-silences.ts';
import type { Step } from './apply-step.ts';
import type { WantedConnection } from './apply-wanted-connections.ts';
import type { CommandContext } from './command.ts';

/** How secrets are sealed and opened, and where it is noted that a connection can't become what the file wants. */
export interface Tools extends Pick<CommandContext, 'sealPassword' | 'openPassword'> {
  file: ReadFile;
}

/** What makes a stored connection the one of the file; null when it is. */
export async function alteration(
  client: pg.ClientBase,
  { id: accountId, name: account }: Silenced['account'],
  { id, credential, ssh_credential, ...before }: StoredConnection,
  wanted: WantedConnection,
  { file, openPassword, sealPassword }: Tools,
): Promise<Step | null> {
  const { address, name, path, ssh } = wanted;
  const owner = { accountId: accountId ?? 0, connectionId: id };
  const isStored = async (sealed: Buffer | null, secret: string | null, of: { of?: 'ssh key' }) =>
    secret === null ||
    (sealed !== null && secret === (await openPassword(client, { ...owner, ...of }, sealed)));
  const newPassword = !(await isStored(credential, address.password, {}));
  const newKey = !(await isStored(ssh_credential, wanted.sshKey, { of: 'ssh key' }));
  const { changed, from, to } = changesBetween(before, settingsAfter(before, wanted), newPassword);
  if (newKey) changed.push('ssh_key');
  if (changed.length === 0) return null;

  const has = (...fields: string[]) => fields.some((field) => changed.includes(field));
  // A stored password is not sent by another way: there it is stored again.
  const sealedAnew =
    newPassword || has('host', 'port', 'connection_type', 'ssh_username', 'ssh_host', 'ssh_port');
  const tunnelled = before.connection_type === 'ssh_tunnel';
  const changes: ConnectionChanges = {
    ...(has('engine', 'connection_type', 'host', 'port', 'database', 'username') && { address }),
    ...(has('connection_type') && tunnelled && !ssh && { type: address.connection_type }),
    ...(ssh && has('connection_type', 'ssh_username', 'ssh_host', 'ssh_port') && { ssh }),
    ...(newKey && wanted.sshKey !== null && { sshKey: wanted.sshKey }),
    ...(sealedAnew && address.password !== null && { password: address.password }),
    ...(has('tls') && { tls: wanted.tls }),
    ...(has('every') && { every: wanted.every }),
    ...(has('thresholds') && { thresholds: thresholdChanges(before.thresholds, wanted.thresholds) }),
    ...(has('expected_standbys') && { expectedStandbys: wanted.expectedStandbys }),
    ...(has('password_exposable') && { passwordExposable: wanted.passwordExposable }),
    ...(has('ca_certificate') && { caCertificate: wanted.caCertificate }),
  };
  file.attempt(path, () => requireChangeable(before, changes));
  return {
    difference: { action: 'change', what: 'connection', account, name, changed, from, to },
    make: (change) => changeConnection((work) => work(change), sealPassword, id, changes),
  };
}

function settingsAfter(before: StoredSettings, wanted: WantedConnection): StoredSettings {
  const { address, tls, every, thresholds, expectedStandbys, passwordExposable, caCertificate, ssh } = wanted;
  const { engine, connection_type, host, port, database, username } = address;
  return {
    ...{ ...before, engine, host, port, database, username, tls },
    connection_type: ssh ? 'ssh_tunnel' : connection_type,
    // The store has another order of names.
    thresholds: isDeepStrictEqual(before.thresholds, thresholds) ? before.thresholds : thresholds,
    expected_standbys: expectedStandbys,
    password_exposable: passwordExposable,
    ca_certificate: caCertificate,
    ...(ssh && { ssh_username: ssh.username, ssh_host: ssh.host, ssh_port: ssh.port }),
    every: before.every === null ? null : every, // sample data is never checked
  };
}

/** What of the stored thresholds the file does not have is the check's own again. */
function thresholdChanges(stored: ConnectionThresholds, wanted: ConnectionThresholds): ThresholdChanges {
  const ids = new Set([...Object.keys(stored), ...Object.keys(wanted)]);
  const undone = (id: string) =>
    Object.fromEntries(Object.keys(stored[id] ?? {}).map((name) => [name, null]));
  return Object.fromEntries([...ids].map((id) => [id, { ...undone(id), ...wanted[id] }]));
}
