import type pg from 'pg';
import type { Logger } from 'pino';
import { changeAccount } from '../activity/record-entry.ts';
import type { Finding, Outcome, Thresholds } from '../checks/check.ts';
import { score, summaryText, worstFirst } from '../checks/score.ts';
import { storeSecrets, trustedSecrets } from '../connections/connection-secrets.ts';
import { TamperedConnection } from '../connections/credentials.ts';
import type { SecretKeys } from '../database/encryption.ts';
import { findingsBefore, recordCheck } from '../health/record-check.ts';
import { recordFindings, standingTicketsOf } from '../ops/record-findings.ts';
import { applySilences } from '../silences/apply-silences.ts';
import { traced } from '../telemetry/tracing.ts';
import { storeCounters } from './counters.ts';
import type { Limits } from './limits.ts';
import { loadRun } from './load-run.ts';
import type { Cost, Measured } from './measure.ts';
import { measureInChild } from './measure-in-child.ts';
import { tamperedOutcome } from './not-connected.ts';
import type { Progress } from './progress.ts';
import { msSince, type NoteStep, stepsOf } from './run-steps.ts';
import type { Tunnel } from './session/ssh-tunnel.ts';

/** What a health check needs beside the connection. */
export interface MonitorDeps {
  /** A pool of the writer's role on the store. */
  writer: pg.Pool;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  allowPrivateTargets: boolean;
  /** By check id, where they are not to be the check's own. */
  thresholds?: Readonly<Record<string, Thresholds>>;
  /** Where they are not to be the monitor's own. */
  limits?: Limits;
  /** Hears how far a run has come. */
  show?: (progress: Progress) => void;
  /** Who asked for it, as the log has it. */
  actor?: Readonly<Record<string, unknown>>;
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;
}

/** Which connection, and whose. */
export interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

/** A stored run, as the specification's section 2.3 has it. */
export interface StoredCheck {
  id: number;
  score: number;
  summary_text: string;
  created_at: string;
  /** Worst first. */
  checks: Omit<Finding, 'database' | 'object'>[];
  /** Of the watched server; what `check run` tells, and no endpoint. */
  cost: Cost;
}

const NEVER = new AbortController().signal;

/**
 * Runs a health check of a connection now: measures, in a child process and outside of any transaction, for at most
 * 120 s, then stores the result with its tickets and entries. Null when there is no such connection or it was removed meanwhile. Throws when
 * the store fails or the credential can't be decrypted (nothing is stored then), and the reason of `signal` once aborted.
 * It takes no claim: {@link checkNow} of schedule.ts does.
 */
export async function runHealthCheck(
  deps: MonitorDeps,
  connection: ConnectionKey,
  signal: AbortSignal = NEVER,
): Promise<StoredCheck | null> {
  const { accountId, connectionId } = connection;
  const attributes = { 'dbvitals.account_id': accountId, 'dbvitals.connection_id': connectionId };
  return traced(
    () => ({ name: 'health check', attributes }),
    async (tell) => {
      const note = stepsOf(deps.log, connection);
      const loading = performance.now();
      const run = await loadRun(deps, connection).catch((error: unknown) => {
        if (error instanceof TamperedConnection) return error;
        throw error;
      });
      if (!run) return null;
      if (run instanceof TamperedConnection) return storeTampered(deps, connection, run);
      const { engine, connectionType: connection_type } = run.job.target;
      note?.('load', { ms: msSince(loading), engine, connection_type });
      tell({ 'dbvitals.engine': engine });
      const measuring = performance.now();
      const measured = await traced(
        () => ({ name: 'measure', attributes: {} }),
        () => measureInChild(run.job, signal, { show: deps.show, note }),
      );
      note?.('measure', { ms: msSince(measuring), ...measured.cost, faults: faultsOf(measured.outcomes) });
      const { loadedAt, job } = run;
      const stored = await store(deps, connection, measured, { loadedAt, tunnel: job.target.tunnel }, note);
      if (stored) tell({ 'dbvitals.score': stored.score });
      return stored;
    },
  );
}

/** Nothing was sent and nothing was measured: the one finding says why, and so do the process's log and the account's. */
function storeTampered(
  deps: MonitorDeps,
  connection: ConnectionKey,
  { reason }: TamperedConnection,
): Promise<StoredCheck | null> {
  deps.log.error(connection, `tampering: ${reason}, so nothing was sent`);
  const outcomes = [tamperedOutcome(reason)];
  const cost = { milliseconds: 0, statements: 0, bytes: 0 };
  return store(deps, connection, { outcomes, samples: [], cost, hostKey: null, server: null }, null);
}

/** How many findings tell of something at fault. */
function faultsOf(outcomes: readonly Outcome[]): number {
  const findings = outcomes.flatMap((outcome) => outcome.findings);
  return findings.filter(({ status }) => !['ok', 'skipped', 'error'].includes(status)).length;
}

/** One short transaction that holds the account's place in its log: a handful of statements, whatever was found. */
function store(
  { writer, actor, secret }: MonitorDeps,
  connection: ConnectionKey,
  { outcomes: measured, samples, cost, hostKey }: Measured,
  run: { loadedAt: number; tunnel: Tunnel | null } | null,
  note?: NoteStep,
): Promise<StoredCheck | null> {
  const began = performance.now();
  return changeAccount(writer, connection.accountId, async ({ client, at, record }) => {
    const scope = { ...connection, at };
    const previous = await findingsBefore(client, connection);
    if (!previous) return null;
    const { outcomes, entries: silenced } = await applySilences(client, scope, measured);
    note?.('silence', { faults: faultsOf(outcomes), resolved: silenced.length });
    const tickets = await standingTicketsOf(client, scope);
    const points = score(
      outcomes,
      tickets.filter((ticket) => ticket.status === 'open'),
    );
    const summary = summaryText(outcomes);
    const findings = worstFirst(outcomes);
    const stored = await recordCheck(client, {
      ...scope,
      score: points,
      summaryText: summary,
      findings,
      cost,
    });
    if (run) {
      await storeCounters(client, connection, run.loadedAt, samples);
      if (hostKey !== null) await pinHostKey(client, secret, connection, run.tunnel, hostKey);
    }
    const { connectionId: connection_id } = connection;
    record('health_check_completed', `/health/connections/${connection_id}`, {
      connection_id,
      score: points,
      health_check_id: stored.id,
      ...actor,
    });
    if (!run && !previous.some(({ metric_line }) => metric_line === findings[0]?.metric_line))
      record('connection_tampered', `/connections/${connection_id}`, { connection_id });
    const told = await recordFindings(client, scope, { outcomes, previous, tickets });
    for (const entry of [...silenced, ...told]) {
      record(entry.actionType, entry.pagePath, entry.properties);
    }
    note?.('store', { ms: msSince(began), health_check_id: stored.id, score: points, entries: told.length });
    return {
      id: stored.id,
      score: points,
      summary_text: summary,
      created_at: stored.created_at.toISOString(),
      checks: findings.map(
        ({ database: _database, object: _object, missing_grant: _grant, ...shown }) => shown,
      ),
      cost,
    };
  });
}

const pin = `
  update connection set ssh_host_key = $3
   where account_id = $1 and connection_id = $2 and ssh_host = $4 and coalesce(ssh_port, 22) = $5 and ssh_host_key is null`;

/**
 * Keeps the key that a bastion showed at its first use, unless the connection has meanwhile got another bastion, or settings that its
 * secrets were not stored for: the next run says so.
 */
async function pinHostKey(
  client: pg.ClientBase,
  secret: SecretKeys,
  connection: ConnectionKey,
  tunnel: Tunnel | null,
  hostKey: string,
): Promise<void> {
  if (tunnel?.hostKey !== null) return;
  const secrets = await trustedSecrets(client, secret, connection);
  if (!secrets) return;
  const { accountId, connectionId } = connection;
  await client.query(pin, [accountId, connectionId, hostKey, tunnel.host, tunnel.port]);
  await storeSecrets(client, secret, connection, secrets);
}
