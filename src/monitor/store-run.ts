import { type Change, changeAccount } from '../activity/record-entry.ts';
import type { Finding } from '../checks/check.ts';
import type { OwnCheck } from '../checks/own/own-check.ts';
import { pinHostKey, storeServer } from '../connections/store-server.ts';
import { notifyOfRun } from '../notifications/run-events/notify-run.ts';
import { type RunWatch, readRunWatch } from '../notifications/run-events/run-watch.ts';
import { limitChanges, storeChanges } from '../runs/changes/store-changes.ts';
import { type PreparedReadings, prepareReadings, storeReadings } from '../runs/changes/store-readings.ts';
import { type PreparedMeasures, prepareMeasures, storeMeasures } from '../runs/measures/store-measures.ts';
import { storeQueries } from '../runs/queries/store-queries.ts';
import { type PreviousRun, readPreviousRun, recordCheck } from '../runs/record-check.ts';
import { errorFields } from '../store/store-failure.ts';
import type { StandingTicket } from '../tickets/plan-tickets.ts';
import { listStandingTickets, recordFindings, resolveSilencedTickets } from '../tickets/record-findings.ts';
import { type RunSilences, readSilences } from '../tickets/silences/run-silences.ts';
import { endClaim, type HandedRun } from './collected/claim-collected.ts';
import { storeCounters } from './counters.ts';
import { countFaults, judgeRun, type RunVerdict } from './judge-run.ts';
import { countLeftOut } from './measures/count-left-out.ts';
import type { ConnectionKey, MonitorDeps } from './monitor-deps.ts';
import type { Cost, Measured } from './nothing-measured.ts';
import { retiredOutcomes } from './own-checks/retired-outcomes.ts';
import type { PulseEvidence } from './pulse/pulse-conditions.ts';
import { msSince, type NoteStep } from './run-steps.ts';
import type { Tunnel } from './session/ssh-tunnel.ts';

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

/** A run that ended. */
export interface EndedRun {
  connection: ConnectionKey;
  measured: Measured;
  /** Null if nothing was sent, because the connection was tampered with. */
  loaded: { loadedAt: number; tunnel: Tunnel | null; own: readonly OwnCheck[] } | null;
  /** What the pulses saw that asked for the run. */
  evidence: PulseEvidence | null;
  /** The claim of a collector's run, which is stored only if the claim still holds, and ends it. */
  claim?: HandedRun;
}

type StoreDeps = Pick<MonitorDeps, 'writer' | 'actor' | 'secret' | 'log'>;

/**
 * Stores a run in one short transaction that locks the account's log. It takes a handful of statements, whatever was
 * found. What needs no such lock is stored before or after it. Null if the connection was removed meanwhile, or the claim of a collector
 * no longer holds.
 */
export async function storeRun(deps: StoreDeps, run: EndedRun, note?: NoteStep): Promise<StoredCheck | null> {
  const began = performance.now();
  const { writer } = deps;
  const { connection, measured } = run;
  const prepared = await prepareMeasures(writer, connection, measured.measures);
  if (prepared.dropped > 0) note?.('measures', { stored: prepared.placed.length, dropped: prepared.dropped });
  const readings = await prepareReadings(writer, connection, measured.readings);
  const stored = await changeAccount(writer, connection.accountId, async (change) => {
    if (run.claim !== undefined && !(await endClaim(change.client, connection, run.claim))) return null;
    const state = await readState(change, run);
    if (!state) return null;
    const found = countLeftOut(measured.outcomes, new Set(measured.leftOut), state.tickets);
    const verdict = judgeRun({
      outcomes: [...found, ...retiredOutcomes(state.tickets, run.loaded?.own ?? null)],
      previous: state.previous.findings,
      tickets: state.tickets,
      silences: state.silences.active,
      evidence: run.evidence,
    });
    note?.('silence', { faults: countFaults(verdict.outcomes), resolved: state.silenced.length });
    const { id, created_at } = await storeCheck(change, run, state, verdict);
    await storeFacts(change, deps, run, prepared);
    recordRun(change, deps, run, state, verdict, id);
    const entries = await storeTickets(change, run, state, verdict, id);
    note?.('store', { ms: msSince(began), health_check_id: id, score: verdict.score, entries });
    return { check: toStoredCheck(id, created_at, verdict, measured.cost), at: change.at };
  });
  if (!stored) return null;
  await storeSeparately(deps, run, stored.at, readings);
  return stored.check;
}

/** What the store knows of the connection when the run ended. */
interface RunState {
  previous: PreviousRun;
  watch: RunWatch;
  silences: RunSilences;
  /** The entries of tickets that a silence resolved: only a process without silences, such as an older version, opens them. */
  silenced: Awaited<ReturnType<typeof resolveSilencedTickets>>;
  tickets: StandingTicket[];
}

async function readState(
  { client, at }: Change,
  { connection, evidence }: EndedRun,
): Promise<RunState | null> {
  const scope = { ...connection, at };
  const previous = await readPreviousRun(client, connection);
  if (!previous) return null;
  const watch = await readRunWatch(client, scope, evidence?.figures);
  const silences = await readSilences(client, scope);
  const silenced = silences.active.length > 0 ? await resolveSilencedTickets(client, scope) : [];
  const tickets = await listStandingTickets(client, scope);
  return { previous, watch, silences, silenced, tickets };
}

function storeCheck(
  { client, at }: Change,
  { connection, measured, evidence }: EndedRun,
  { watch }: RunState,
  { score, summaryText, findings }: RunVerdict,
): ReturnType<typeof recordCheck> {
  return recordCheck(client, {
    ...connection,
    at,
    score,
    summaryText,
    findings,
    cost: measured.cost,
    inMaintenance: watch.isInMaintenance,
    reason: evidence ? 'pulse' : null,
  });
}

/** Stores what the run learned of the server, for its history and for the next run. */
async function storeFacts(
  { client, at }: Change,
  { secret }: StoreDeps,
  { connection, measured, loaded }: EndedRun,
  prepared: PreparedMeasures,
): Promise<void> {
  const scope = { ...connection, at };
  await storeMeasures(client, scope, prepared);
  if (measured.server) await storeServer(client, scope, measured.server);
  if (!loaded) return;
  await storeCounters(client, connection, loaded.loadedAt, measured.samples);
  if (measured.hostKey !== null && loaded.tunnel?.hostKey === null)
    await pinHostKey(client, secret, connection, loaded.tunnel, measured.hostKey);
}

function recordRun(
  { record }: Change,
  { actor }: StoreDeps,
  { connection, loaded }: EndedRun,
  { previous, watch }: RunState,
  { score, findings }: RunVerdict,
  health_check_id: number,
): void {
  const { connectionId: connection_id } = connection;
  record('health_check_completed', `/health/connections/${connection_id}`, {
    connection_id,
    score,
    health_check_id,
    ...actor,
  });
  const isKnown = previous.findings.some(({ metric_line }) => metric_line === findings[0]?.metric_line);
  if (!loaded && !isKnown) {
    const { name } = watch.connection;
    record('connection_tampered', `/connections/${connection_id}`, { connection_id, name });
  }
}

/** Stores what changed, with tickets, entries and events. Returns how many entries the tickets have. */
async function storeTickets(
  change: Change,
  { connection, measured }: EndedRun,
  { previous, watch, silences, silenced }: RunState,
  { plan, changes, ...verdict }: RunVerdict,
  id: number,
): Promise<number> {
  const { client, at, record } = change;
  const scope = { ...connection, at };
  await storeChanges(client, scope, limitChanges([...silences.expired, ...changes], 'findings'));
  const planned = await recordFindings(client, scope, plan);
  const tickets = [...silenced, ...planned];
  for (const entry of tickets) record(entry.actionType, entry.pagePath, entry.properties);
  const { score, summaryText, findings, unsilencedScore, outcomes } = verdict;
  await notifyOfRun(change, watch, {
    run: { id, score, summaryText, findings },
    unsilencedScore,
    outcomes,
    measured: measured.outcomes,
    leftOut: new Set(measured.leftOut),
    measures: measured.measures,
    tickets,
    previous,
  });
  return planned.length;
}

function toStoredCheck(
  id: number,
  at: Date,
  { score, summaryText, findings }: RunVerdict,
  cost: Cost,
): StoredCheck {
  return {
    id,
    score,
    summary_text: summaryText,
    created_at: at.toISOString(),
    checks: findings.map(
      ({ database: _d, object: _o, missing_grant: _g, measured: _m, ...listed }) => listed,
    ),
    cost,
  };
}

/** Stores what may be large, without the lock of the account's log. What fails here is found again by the next run. */
async function storeSeparately(
  { writer, log }: StoreDeps,
  { connection, measured: { queries } }: EndedRun,
  at: string,
  readings: PreparedReadings,
): Promise<void> {
  const warn = (message: string) => (error: unknown) =>
    log.warn({ ...connection, ...errorFields(error, log) }, message);
  await storeReadings(writer, connection, at, readings).catch(
    warn('changes were not stored; the next run finds them'),
  );
  if (!queries) return;
  await storeQueries(writer, connection, queries).catch(
    warn('queries were not stored; the next run counts them'),
  );
}
