import type { Engine } from '../../vocabulary/engines.ts';
import { loadCollectedRun } from '../load-run.ts';
import type { Instructions } from '../measure.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { type CollectorKey, claimCollected } from './claim-collected.ts';

/** A run as a collector gets it: a job without its target, which the collector's file has. */
export interface CollectedJob {
  /** To be sent back with the result. */
  run: string;
  /** The name of the connection in the collector's file. */
  connection: string;
  engine: Engine;
  instructions: Pick<
    Instructions,
    'thresholds' | 'expectedStandbys' | 'serversBehind' | 'before' | 'facts' | 'queries'
  >;
}

type HandOutDeps = Pick<MonitorDeps, 'writer' | 'secret' | 'allowPrivateTargets'>;

/** Hands due runs of its connections to a collector, at most `limit`. */
export async function handOut(
  deps: HandOutDeps,
  collector: CollectorKey,
  limit: number,
): Promise<CollectedJob[]> {
  const claimed = await claimCollected(deps.writer, collector, limit);
  const jobs: CollectedJob[] = [];
  for (const { run, name, ...connection } of claimed) {
    const loaded = await loadCollectedRun(deps, connection);
    if (!loaded) continue; // it was removed meanwhile
    const {
      thresholds,
      expectedStandbys = 0,
      before = [],
      facts = null,
      queries,
      serversBehind,
    } = loaded.instructions;
    const instructions = {
      thresholds,
      expectedStandbys,
      before,
      facts,
      ...(queries && { queries }),
      ...(serversBehind && { serversBehind }),
    };
    jobs.push({ run, connection: name, engine: loaded.engine, instructions });
  }
  return jobs;
}
