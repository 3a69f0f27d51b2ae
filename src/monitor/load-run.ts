import type pg from 'pg';
import type { BackupFacts } from '../checks/backups/backup-checks.ts';
import type { Thresholds } from '../checks/check.ts';
import type { OwnCheck } from '../checks/own/own-check.ts';
import { limitsBehind, type ServerLimit } from '../checks/pgbouncer/server-limit.ts';
import { CollectedConnection, isCollected } from '../connections/collected-connection.ts';
import {
  type Destination,
  decryptSecrets,
  destinationColumns,
  type EncryptedSecrets,
  type Secrets,
} from '../connections/credentials.ts';
import { ownChecksOfConnection } from '../connections/own-checks/list-own-checks.ts';
import { type Override, thresholdsOfRun } from '../connections/thresholds/effective-thresholds.ts';
import { overridesOfConnection } from '../connections/thresholds/list-overrides.ts';
import type { KnownReading } from '../runs/changes/facts.ts';
import { redactionKey } from '../runs/changes/redaction-key.ts';
import { serverLimits } from '../runs/changes/server-limits.sql.ts';
import { loadQueries } from '../runs/queries/store-queries.ts';
import { backupFacts } from '../store/sql/backup-facts.sql.ts';
import { tagsOfConnection } from '../store/sql/connection-tags.sql.ts';
import type { Job } from './children/measure-worker.ts';
import type { CounterBefore } from './counters.ts';
import type { Instructions } from './measure.ts';
import type { ConnectionKey, MonitorDeps } from './monitor-deps.ts';
import type { Target } from './session/session.ts';
import type { Tunnel } from './session/ssh-tunnel.ts';

const selectTarget = `
  select ${destinationColumns}, c.name, c.credential, c.ssh_credential, ${isCollected} as "isCollected",
         thresholds, ${tagsOfConnection} as tags, ${overridesOfConnection} as overrides,
         ${backupFacts} as backups,
         ${ownChecksOfConnection} as own,
         expected_standbys as "expectedStandbys",
         ${serverLimits} as "serverLimits",
         extract(epoch from now())::float8 as "loadedAt",
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'checkId', check_id, 'database', s.database, 'rows', rows,
                   'seconds', extract(epoch from now() - taken_at))), '[]')
            from counter_sample s
           where s.account_id = $1 and s.connection_id = $2) as before,
         (select encrypted from redaction_key where account_id = $1 and connection_id = $2) as "redactionKey",
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'kind', kind, 'database', f.database, 'digest', digest,
                   'age', extract(epoch from now() - read_at))), '[]')
            from fact_snapshot f
           where f.account_id = $1 and f.connection_id = $2) as known,
         (select fact ->> 2
            from fact_snapshot f, jsonb_array_elements(f.facts -> 'facts') fact
           where f.account_id = $1 and f.connection_id = $2 and f.kind = 'server' and fact ->> 0 = 'restart') as started
    from connection c
   where account_id = $1 and connection_id = $2 and removed_at is null`;

/** The columns of a connection that make its target. */
export interface TargetRow extends Destination {
  engine: Target['engine'];
  connection_type: Target['connectionType'];
  tls: Target['tls'];
}

interface RunRow extends TargetRow, EncryptedSecrets {
  name: string;
  isCollected: boolean;
  thresholds: Record<string, Thresholds>;
  tags: string[];
  overrides: Override[];
  backups: BackupFacts | null;
  own: OwnCheck[];
  expectedStandbys: number;
  /** Null unless it is a pooler. */
  serverLimits: ServerLimit[] | null;
  loadedAt: number;
  before: CounterBefore[];
  redactionKey: Buffer | null;
  known: KnownReading[];
  started: string | null;
}

/** A run as sent to a child process, and the store's time (Unix, in seconds) when it was loaded. */
export interface LoadedRun {
  /** The connection's name. */
  name: string;
  job: Job;
  /** The name of the operator's command that prints the password; null = the job has it. */
  tokenSource: string | null;
  /** Null if no backup was ever expected or reported. */
  backups: BackupFacts | null;
  loadedAt: number;
}

/** What loading needs. Inside a transaction, `writer` is its client. */
type LoadDeps = Pick<MonitorDeps, 'secret' | 'allowPrivateTargets' | 'limits' | 'thresholds'> & {
  writer: pg.Pool | pg.ClientBase;
};

/**
 * Loads what a run of a connection needs, with decrypted secrets. Null if there is no such connection. Throws like
 * `decryptSecrets`: a `TamperedConnection` if the settings differ from those that the secrets were stored for. Throws a
 * {@link CollectedConnection} if only a collector has them.
 */
export async function loadRun(deps: LoadDeps, connection: ConnectionKey): Promise<LoadedRun | null> {
  const row = await readRun(deps, connection);
  if (!row) return null;
  if (row.isCollected) throw new CollectedConnection(connection.connectionId);
  const began = Date.now();
  const secrets = await decryptSecrets(deps.writer, deps.secret, row, row);
  const instructions = { ...(await loadInstructions(deps, connection, row)), began };
  return {
    name: row.name,
    job: { accountId: connection.accountId, target: toTarget(row, secrets), instructions },
    tokenSource: row.token_source,
    backups: row.backups,
    loadedAt: row.loadedAt,
  };
}

/** What the collector of a connection needs for a run: everything but the target. Null if there is no such connection. */
export async function loadCollectedRun(
  deps: LoadDeps,
  connection: ConnectionKey,
): Promise<{ engine: Target['engine']; instructions: Instructions } | null> {
  const row = await readRun(deps, connection);
  if (!row?.isCollected) return null;
  return { engine: row.engine, instructions: await loadInstructions(deps, connection, row) };
}

/** What the run of a collector is judged by besides what it measured. Null if there is no such connection. */
export async function loadBackups(
  deps: Pick<LoadDeps, 'writer' | 'thresholds'>,
  connection: ConnectionKey,
): Promise<Pick<RunRow, 'backups' | 'thresholds'> | null> {
  const row = await readRun(deps, connection);
  return row ? { backups: row.backups, thresholds: thresholdsNow(deps, row) } : null;
}

function thresholdsNow(
  { thresholds }: Pick<LoadDeps, 'thresholds'>,
  row: RunRow,
): Record<string, Thresholds> {
  return { ...thresholdsOfRun(row.thresholds, row.tags, row.overrides, row.own), ...thresholds };
}

async function readRun(
  { writer }: Pick<LoadDeps, 'writer'>,
  connection: ConnectionKey,
): Promise<RunRow | undefined> {
  const values = [connection.accountId, connection.connectionId];
  return (await writer.query<RunRow>(selectTarget, values)).rows[0];
}

async function loadInstructions(
  deps: LoadDeps,
  connection: ConnectionKey,
  row: RunRow,
): Promise<Instructions> {
  const { allowPrivateTargets, limits } = deps;
  const thresholds = thresholdsNow(deps, row);
  const { expectedStandbys, before, known, started, own } = row;
  const key = await redactionKey(deps.writer, deps.secret, connection, row.redactionKey);
  const facts = key && { key: key.toString('base64'), known, started };
  const queries = await loadQueries(deps.writer, connection.accountId, connection.connectionId);
  const serversBehind = limitsBehind(row.host, row.serverLimits ?? []);
  const instructions = { allowPrivateTargets, thresholds, expectedStandbys, own, before, facts, queries };
  return { ...instructions, ...(limits && { limits }), ...(serversBehind.length > 0 && { serversBehind }) };
}

/** A connection and its decrypted secrets as a target. */
export function toTarget(row: TargetRow, { password, sshKey }: Secrets): Target {
  const { engine, connection_type: connectionType, host, port, database, username, tls } = row;
  const { password_exposable: passwordExposable, ca_certificate: caCertificate } = row;
  const address = { engine, connectionType, host, port, database, username };
  return { ...address, password, tls, passwordExposable, caCertificate, tunnel: tunnelOf(row, sshKey) };
}

function tunnelOf(row: TargetRow, privateKey: string | null): Tunnel | null {
  const { connection_type, ssh_host: host, ssh_port, ssh_username: username, ssh_host_key: hostKey } = row;
  if (connection_type !== 'ssh_tunnel' || host === null || username === null) return null;
  const port = ssh_port ?? 22;
  return { host, port, username, privateKey, agentSocket: process.env['SSH_AUTH_SOCK'] ?? null, hostKey };
}
