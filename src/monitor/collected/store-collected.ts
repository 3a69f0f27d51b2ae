import { loadBackups } from '../load-run.ts';
import { withBackups } from '../measures/measure-backups.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { type StoredCheck, storeRun } from '../store-run.ts';
import { acceptMeasured, type ReportedMeasured } from './accept-measured.ts';
import { type CollectorKey, findRun } from './claim-collected.ts';

type StoreDeps = Pick<MonitorDeps, 'writer' | 'secret' | 'log'>;

/**
 * Stores what a collector measured, as the result of a child process is stored. Null if the collector has no such run: it was stored
 * already, took too long, or its connection was removed.
 */
export async function storeCollected(
  deps: StoreDeps,
  collector: CollectorKey,
  { run, measured: reported }: { run: string; measured: ReportedMeasured },
): Promise<StoredCheck | null> {
  const running = await findRun(deps.writer, collector, run);
  if (!running) return null;
  const { accountId, connectionId, engine, loadedAt, queryTexts } = running;
  const connection = { accountId, connectionId };
  const judged = await loadBackups(deps, connection);
  if (!judged) return null;
  const ofServer = acceptMeasured(engine, reported, queryTexts);
  const measured = withBackups(ofServer, judged.backups, judged.thresholds);
  const loaded = { loadedAt, tunnel: null, own: [] };
  const stored = await storeRun(deps, { connection, measured, loaded, evidence: null, claim: run });
  if (stored) deps.log.info({ ...connection, score: stored.score }, 'health check of a collector completed');
  return stored;
}
