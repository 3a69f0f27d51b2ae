import { TamperedConnection } from '../connections/credentials.ts';
import { traced } from '../platform/telemetry/tracing.ts';
import { countFaults } from './judge-run.ts';
import { loadRun } from './load-run.ts';
import { withBackups } from './measures/measure-backups.ts';
import { withoutPause } from './measures/paused-login.ts';
import type { ConnectionKey, MonitorDeps } from './monitor-deps.ts';
import { nothingMeasured, tamperedOutcome } from './nothing-measured.ts';
import { answersAgain, type PulseEvidence } from './pulse/pulse-conditions.ts';
import { msSince, stepsOf } from './run-steps.ts';
import { type StoredCheck, storeRun } from './store-run.ts';
import { measureLoaded } from './tokens/measure-loaded.ts';

const NEVER = new AbortController().signal;

/** Why a health check runs, if not because it is due. */
export interface RunReason {
  /** What the pulses saw that asked for it. */
  evidence?: PulseEvidence | null;
  /** A person started it. */
  isByHand?: boolean;
}

/**
 * Runs a health check of a connection now. It measures for at most 120 s, in a child process and outside any
 * transaction, then stores the result with its tickets and entries. Null if the connection does not exist or was
 * removed meanwhile. Throws if the store fails or the credential can't be decrypted, and then stores nothing; throws
 * the reason of `signal` once that aborts. It takes no claim: {@link checkNow} of
 * schedule.ts does.
 */
export async function runHealthCheck(
  deps: MonitorDeps,
  connection: ConnectionKey,
  signal: AbortSignal = NEVER,
  { evidence = null, isByHand = false }: RunReason = {},
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
      // The pulses tried before.
      if (evidence?.holding.includes('unreachable')) run.job.instructions.tries = 1;
      if (isByHand || answersAgain(evidence))
        run.job.instructions.before = withoutPause(run.job.instructions.before ?? []);
      const { engine, connectionType: connection_type, tunnel } = run.job.target;
      note?.('load', { ms: msSince(loading), engine, connection_type });
      setAttributes({ 'dbvitals.engine': engine });
      const measuring = performance.now();
      const ofServer = await traced(
        () => ({ name: 'measure', attributes: {} }),
        () => measureLoaded(run, deps.tokenCommands ?? {}, signal, { show: deps.show, note }),
      );
      const measured = withBackups(ofServer, run.backups, run.job.instructions.thresholds);
      note?.('measure', { ms: msSince(measuring), ...measured.cost, faults: countFaults(measured.outcomes) });
      const own = run.job.instructions.own ?? [];
      const loaded = { loadedAt: run.loadedAt, tunnel, own };
      const stored = await storeRun(deps, { connection, measured, loaded, evidence }, note);
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
  const measured = nothingMeasured([tamperedOutcome(reason)]);
  return storeRun(deps, { connection, measured, loaded: null, evidence: null });
}
