import type { Thresholds } from '../checks/check.ts';
import type { Job } from './child.ts';
import type { CounterBefore } from './counters.ts';
import { openCredential } from './credentials.ts';
import type { ConnectionKey, MonitorDeps } from './run.ts';
import type { Target } from './session.ts';
import type { Tunnel } from './ssh-tunnel.ts';

const selectTarget = `
  select engine, connection_type as "connectionType", host, port, database, username, tls, credential,
         password_exposable as "passwordExposable", ca_certificate as "caCertificate",
         thresholds, expected_standbys as "expectedStandbys",
         ssh_host as "sshHost", coalesce(ssh_port, 22) as "sshPort", ssh_username as "sshUsername",
         ssh_credential as "sshCredential", ssh_host_key as "sshHostKey",
         extract(epoch from now())::float8 as "loadedAt",
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'checkId', check_id, 'database', s.database, 'rows', rows,
                   'seconds', extract(epoch from now() - taken_at))), '[]')
            from counter_sample s
           where s.account_id = $1 and s.connection_id = $2) as before
    from connection c
   where account_id = $1 and connection_id = $2 and removed_at is null`;

interface TargetRow extends Omit<Target, 'password' | 'tunnel'> {
  credential: Buffer | null;
  thresholds: Record<string, Thresholds>;
  expectedStandbys: number;
  sshHost: string | null;
  sshPort: number;
  sshUsername: string | null;
  sshCredential: Buffer | null;
  sshHostKey: string | null;
  loadedAt: number;
  before: CounterBefore[];
}

/** A run as a child process is told it, and the store's time (Unix, in seconds) when it was loaded. */
export interface LoadedRun {
  job: Job;
  loadedAt: number;
}

/** Loads what a run of a connection needs, its credentials opened; null when there is no such connection. */
export async function loadRun(deps: MonitorDeps, connection: ConnectionKey): Promise<LoadedRun | null> {
  const values = [connection.accountId, connection.connectionId];
  const { rows } = await deps.writer.query<TargetRow>(selectTarget, values);
  const began = Date.now();
  const [row] = rows;
  if (!row) return null;
  const { engine, connectionType, host, port, database, username, tls, passwordExposable, caCertificate } =
    row;
  const open = (sealed: Buffer, of?: 'ssh key') =>
    openCredential(deps.writer, deps.secret, { ...connection, ...(of && { of }) }, sealed);
  const password = row.credential && (await open(row.credential));
  const privateKey = row.sshCredential && (await open(row.sshCredential, 'ssh key'));
  const address = { engine, connectionType, host, port, database, username };
  const target = { ...address, password, tls, passwordExposable, caCertificate };
  const { allowPrivateTargets, limits } = deps;
  const thresholds = { ...row.thresholds, ...deps.thresholds };
  const { expectedStandbys, before, loadedAt } = row;
  const instructions = { allowPrivateTargets, thresholds, expectedStandbys, before, began };
  return {
    job: {
      target: { ...target, tunnel: tunnelOf(row, privateKey) },
      instructions: { ...instructions, ...(limits && { limits }) },
    },
    loadedAt,
  };
}

function tunnelOf(row: TargetRow, privateKey: string | null): Tunnel | null {
  const { connectionType, sshHost: host, sshPort: port, sshUsername: username, sshHostKey: hostKey } = row;
  if (connectionType !== 'ssh_tunnel' || host === null || username === null) return null;
  return { host, port, username, privateKey, agentSocket: process.env['SSH_AUTH_SOCK'] ?? null, hostKey };
}
