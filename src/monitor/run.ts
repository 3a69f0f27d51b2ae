import type pg from 'pg';
import type { Logger } from 'pino';
import { changeAccount } from '../activity/record-entry.ts';
import { limitChanges, storeChanges } from '../changes/store-changes.ts';
import { prepareReadings, storeReadings } from '../changes/store-readings.ts';
import type { Finding, Outcome, Thresholds } from '../checks/check.ts';
import { score, summaryText, worstFirst } from '../checks/score.ts';
import type { TokenCommands } from '../config/token-commands.ts';
import { storeSecrets, trustedSecrets } from '../connections/connection-secrets.ts';
import { TamperedConnection } from '../connections/credentials.ts';
import { storeProvider, storeVersion } from '../connections/store-server.ts';
import type { SecretKeys } from '../database/encryption.ts';
import { errorFields } from '../database/store-failure.ts';
import { previousRunOf, recordCheck } from '../health/record-check.ts';
import { prepareMeasures } from '../measures/prepare-measures.ts';
import { storeMeasures } from '../measures/store-measures.ts';
import { readRunWatch } from '../notifications/outbox/run-watch.ts';
import { planTickets } from '../ops/plan-tickets.ts';
import { recordFindings, standingTicketsOf } from '../ops/record-findings.ts';
import { storeQueries } from '../queries/store-queries.ts';
import { applySilences } from '../silences/apply-silences.ts';
import { traced } from '../telemetry/tracing.ts';
import { storeCounters } from './counters.ts';
import { findingChanges } from './finding-changes.ts';
import type { Limits } from './limits.ts';
import { loadRun } from './load-run.ts';
import type { Cost, Measured } from './measure.ts';
import { tamperedOutcome } from './not-connected.ts';
import { notifyOfRun } from './notify-run.ts';
import type { Progress } from './progress.ts';
import { msSince, type NoteStep, stepsOf } from './run-steps.ts';
import type { Tunnel } from './session/ssh-tunnel.ts';
import { measureLoaded } from './tokens/measure-loaded.ts';

/** What a health check needs besides the connection. */
export interface MonitorDeps {
  /** A pool of the writer's role on the store. */
  writer: pg.Pool;
  /** The keys of DBVITALS_SECRET_KEY. */
  secret: SecretKeys;
  allowPrivateTargets: boolean;
  /** The commands that print tokens, by the names that connections have for them; absent = none. */
  tokenCommands?: TokenCommands;
  /** Thresholds that replace the check's own, by check id. */
  thresholds?: Readonly<Record<string, Thresholds>>;
  /** Limits that replace the monitor's own. */
  limits?: Limits;
  /** Receives the progress of a run. */
  show?: (progress: Progress) => void;
  /** Who requested the check, as recorded in the log. */
  actor?: Readonly<Record<string, unknown>>;
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;
}

/** Identifies a connection of an account. */
export interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

/** A stored run, as in section 2.3 of the specification. */
export interface StoredCheck {
  id: number;
  score: number;
  summary_text: string;
  created_at: string;
  /** Worst first. */
  checks: Omit<Finding, 'database' | 'object' | 'measured'>[];
  /** The cost on the monitored server. `check run` shows it, no endpoint does. */
  cost: Cost;
}

const NEVER = new AbortController().signal;

/**
 * Runs a health check of a connection now. It measures for at most 120 s, in a child process and outside any
 * transaction, then stores the result with its tickets and entries. Null if the connection does not exist or was
 * removed meanwhile. Throws if the store fails or the credential can't be decrypted, and then stores nothing; throws
 * the reason of `signal` once that aborts. It takes no claim: {@link checkNow} of schedule.ts does.
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
    async (setAttributes) => {
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
      setAttributes({ 'dbvitals.engine': engine });
      const measuring = performance.now();
      const measured = await traced(
        () => ({ name: 'measure', attributes: {} }),
        () => measureLoaded(run, deps.tokenCommands ?? {}, signal, { show: deps.show, note }),
      );
      note?.('measure', { ms: msSince(measuring), ...measured.cost, faults: faultsOf(measured.outcomes) });
      const { loadedAt, job } = run;
      const stored = await store(deps, connection, measured, { loadedAt, tunnel: job.target.tunnel }, note);
      if (stored) setAttributes({ 'dbvitals.score': stored.score });
      return stored;
    },
  );
}

/**
 * Stores a run in which nothing was sent or measured. Its only finding gives the reason, and so do the service's log
 * and the account's log.
 */
function storeTampered(
  deps: MonitorDeps,
  connection: ConnectionKey,
  { reason }: TamperedConnection,
): Promise<StoredCheck | null> {
  deps.log.error(connection, `tampering: ${reason}, so nothing was sent`);
  const outcomes = [tamperedOutcome(reason)];
  const cost = { milliseconds: 0, statements: 0, bytes: 0 };
  const nothing = {
    samples: [],
    measures: [],
    readings: [],
    queries: null,
    hostKey: null,
    server: null,
    failure: null,
  };
  return store(deps, connection, { outcomes, cost, ...nothing }, null);
}

/** How many findings are faults. */
function faultsOf(outcomes: readonly Outcome[]): number {
  const findings = outcomes.flatMap((outcome) => outcome.findings);
  return findings.filter(({ status }) => !['ok', 'skipped', 'error'].includes(status)).length;
}

/**
 * Stores a run in one short transaction that locks the account's log. It takes a handful of statements, whatever was
 * found. What needs no such lock is stored before it.
 */
async function store(
  { writer, actor, secret, log }: MonitorDeps,
  connection: ConnectionKey,
  { outcomes: measured, samples, measures, readings, queries, cost, hostKey, server }: Measured,
  run: { loadedAt: number; tunnel: Tunnel | null } | null,
  note?: NoteStep,
): Promise<StoredCheck | null> {
  const began = performance.now();
  const prepared = await prepareMeasures(writer, connection, measures);
  if (prepared.dropped > 0) note?.('measures', { stored: prepared.placed.length, dropped: prepared.dropped });
  const changed = await prepareReadings(writer, connection, readings);
  let storedAt: string | null = null;
  const check = await changeAccount(writer, connection.accountId, async (change) => {
    const { client, at, record } = change;
    const scope = { ...connection, at };
    const before = await previousRunOf(client, connection);
    if (!before) return null;
    const previous = before.findings;
    const watch = await readRunWatch(client, scope);
    const { outcomes, entries: silenced, expired } = await applySilences(client, scope, measured);
    note?.('silence', { faults: faultsOf(outcomes), resolved: silenced.length });
    const tickets = await standingTicketsOf(client, scope);
    const open = tickets.filter((ticket) => ticket.status === 'open');
    const points = score(outcomes, open);
    const summary = summaryText(outcomes);
    const findings = worstFirst(outcomes);
    const stored = await recordCheck(client, {
      ...scope,
      score: points,
      summaryText: summary,
      findings,
      cost,
      inMaintenance: watch.isInMaintenance,
    });
    await storeMeasures(client, scope, prepared);
    if (server) {
      await storeProvider(client, connection, server.provider);
      await storeVersion(client, scope, server.version);
    }
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
    const plan = planTickets(outcomes, previous, tickets);
    // The findings of the first run did not come with it.
    const found = previous.length > 0 ? findingChanges(plan) : [];
    await storeChanges(client, scope, limitChanges([...expired, ...found], 'findings'));
    const ticketEntries = await recordFindings(client, scope, plan);
    for (const entry of [...silenced, ...ticketEntries]) {
      record(entry.actionType, entry.pagePath, entry.properties);
    }
    await notifyOfRun(change, watch, {
      run: { id: stored.id, score: points, summaryText: summary, findings },
      unsilencedScore: score(measured, open),
      ...{ outcomes, measured, measures, tickets: [...silenced, ...ticketEntries], previous: before },
    });
    note?.('store', {
      ms: msSince(began),
      health_check_id: stored.id,
      score: points,
      entries: ticketEntries.length,
    });
    storedAt = at;
    return {
      id: stored.id,
      score: points,
      summary_text: summary,
      created_at: stored.created_at.toISOString(),
      checks: findings.map(
        ({ database: _d, object: _o, missing_grant: _g, measured: _m, ...shown }) => shown,
      ),
      cost,
    };
  });
  if (storedAt !== null) {
    await storeReadings(writer, connection, storedAt, changed).catch((error: unknown) =>
      log.warn(
        { ...connection, ...errorFields(error, log) },
        'changes were not stored; the next run finds them',
      ),
    );
  }
  if (storedAt !== null && queries) {
    await storeQueries(writer, connection, queries).catch((error: unknown) =>
      log.warn(
        { ...connection, ...errorFields(error, log) },
        'queries were not stored; the next run counts them',
      ),
    );
  }
  return check;
}

const pin = `
  update connection set ssh_host_key = $3
   where account_id = $1 and connection_id = $2 and ssh_host = $4 and coalesce(ssh_port, 22) = $5 and ssh_host_key is null`;

/**
 * Stores the key that an SSH server showed first, unless the connection meanwhile has another SSH server or was
 * tampered with: the next run reports that.
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
