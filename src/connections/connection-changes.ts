import type pg from 'pg';
import { type FieldChanges, fieldChanges } from '../activity/field-changes.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';
import { fingerprints, toBackupText, toPulseText } from './connection-settings.ts';
import type { ConnectionThresholds } from './connection-thresholds.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** A connection's settings as stored. */
export interface StoredSettings {
  name: string;
  engine: DatabaseAddress['engine'];
  connection_type: string;
  host: string;
  port: number;
  database: string;
  username: string;
  tls: TlsMode;
  thresholds: ConnectionThresholds;
  expected_standbys: number;
  query_texts: boolean;
  /** 0 = off. */
  pulse_seconds: number;
  /** 0 = no backup is expected. */
  backup_expected_seconds: number;
  password_exposable: boolean;
  ca_certificate: string | null;
  ssh_username: string | null;
  ssh_host: string | null;
  ssh_port: number | null;
  /** Seconds; null for sample data. */
  every: number | null;
  version: number;
  /** The name of the operator's command that prints the password; null = none. */
  token_source: string | null;
  has_password: boolean;
  has_ssh_key: boolean;
  /** The collector that measures it, which has its address and login; null = the service itself. */
  collector: string | null;
}

const columns = `
         c.name, c.engine, c.connection_type, c.host, c.port, c.database, c.username, c.tls, c.thresholds,
         c.expected_standbys, c.query_texts, c.pulse_seconds, c.backup_expected_seconds, c.password_exposable,
         c.ca_certificate,
         c.ssh_username, c.ssh_host, c.ssh_port, c.token_source,
         (select extract(epoch from s.every)::float8 from connection_schedule s
           where s.account_id = c.account_id and s.connection_id = c.connection_id) as every,
         c.version, c.has_credential as has_password, c.has_ssh_credential as has_ssh_key,
         (select o.name
            from collected_connection m
            join collector o using (account_id, collector_id)
           where m.account_id = c.account_id and m.connection_id = c.connection_id) as collector`;

const select = `
  select ${columns}
    from connection c
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null
     for update`;

const selectAll = `
  select c.connection_id as id, ${columns}
    from connection c
   where c.account_id = $1 and c.removed_at is null
   order by c.connection_id`;

/** Locks a connection and returns its settings; null when it does not exist or was removed. */
export async function settingsOf(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<StoredSettings | null> {
  const { rows } = await client.query<StoredSettings>(select, [accountId, connectionId]);
  return rows[0] ?? null;
}

/** A connection and its settings. */
export interface StoredConnection extends StoredSettings {
  id: number;
}

/** The account's connections without removed ones, ordered by id. Locks nothing. */
export async function everySettingsOf(client: pg.ClientBase, accountId: number): Promise<StoredConnection[]> {
  return (await client.query<StoredConnection>(selectAll, [accountId])).rows;
}

/** The changed fields with old and new values for the log; never a password. */
export function changesBetween(
  before: StoredSettings,
  after: StoredSettings,
  password: boolean,
): FieldChanges {
  const changes = fieldChanges(shown(before), shown(after));
  return { ...changes, changed: password ? [...changes.changed, 'password'] : changes.changed };
}

// Certificates are logged as fingerprints, because they are long. Durations are formatted as in the commands.
function shown({
  has_password: _password,
  has_ssh_key: _sshKey,
  version: _version,
  collector: _collector,
  ca_certificate,
  every,
  pulse_seconds,
  backup_expected_seconds,
  ...plain
}: StoredSettings): Record<string, unknown> {
  return {
    ...plain,
    every: every === null ? null : `${every}s`,
    pulse: toPulseText(pulse_seconds),
    backup_expected: toBackupText(backup_expected_seconds),
    ca_certificate: ca_certificate === null ? null : fingerprints(ca_certificate),
  };
}
