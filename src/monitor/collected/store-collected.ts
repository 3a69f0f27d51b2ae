import { loadBackups } from '../load-run.ts';
import { withBackups } from '../measures/measure-backups.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { type StoredCheck, storeRun } from '../store-run.ts';
import { acceptMeasured, type ReportedMeasured } from './accept-measured.ts';
import { type CollectorKey, findRun, type HandedRun } from './claim-collected.ts';

type StoreDeps = Pick<MonitorDeps, 'writer' | 'secret' | 'log'>;

/**
 * Stores what a collector measured, as the result of a child process is stored. Null if the collector has no such run: it was stored
 * already, took too long, or its connection was removed.
 */
export async function storeCollected(
  deps: StoreDeps,
  collector: CollectorKey,
  { run, at, measured: reported }: HandedRun & { measured: ReportedMeasured },
): Promise<StoredCheck | null> {
  const running = await findRun(deps.writer, collector, run);
  if (!running) return null;
  const { accountId, connectionId, engine, loadedAt, queryTexts, own, evidence } = running;
  const connection = { accountId, connectionId };
  const judged = await loadBackups(deps, connection);
  if (!judged) return null;
  const ofServer = acceptMeasured(engine, reported, { queryTexts, own });
  const measured = withBackups(ofServer, judged.backups, judged.thresholds);
  const loaded = { loadedAt, tunnel: null, own };
  const stored = await storeRun(deps, { connection, measured, loaded, evidence, claim: { run, at } });
  if (stored) deps.log.info({ ...connection, score: stored.score }, 'health check of a collector completed');
  return stored;
}
