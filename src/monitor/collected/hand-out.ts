import type pg from 'pg';
import type { Engine } from '../../vocabulary/engines.ts';
import { loadCollectedRun } from '../load-run.ts';
import type { Instructions } from '../measure.ts';
import { withoutPause } from '../measures/paused-login.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { type CollectedPulse, loadCollectedPulse } from '../pulse/load-pulse.ts';
import { answersAgain } from '../pulse/pulse-conditions.ts';
import { type CollectorKey, claimCollected } from './claim-collected.ts';

/** A run as a collector gets it: a job without its target, which the collector's file has. */
export interface CollectedJob {
  /** To be sent back with the result. */
  run: string;
  /** The name of the connection in the collector's file. */
  connection: string;
  engine: Engine;
  /** Seconds from run to run, by which the collector goes on while the service is away. Null if an older service did not say. */
  every: number | null;
  instructions: Pick<
    Instructions,
    'thresholds' | 'expectedStandbys' | 'serversBehind' | 'own' | 'before' | 'facts' | 'queries' | 'tries'
  >;
  /** Null = the connection has no pulse, or an older service did not say. */
  pulse: CollectedPulse | null;
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
  for (const { run, name, every, evidence, ...connection } of claimed) {
    const loaded = await loadCollectedRun(deps, connection);
    if (!loaded) continue; // it was removed meanwhile
    const { engine, instructions: all } = loaded;
    const { thresholds, expectedStandbys = 0, own = [], before = [], facts = null } = all;
    const { queries, serversBehind } = all;
    const instructions = {
      thresholds,
      expectedStandbys,
      own,
      before: answersAgain(evidence) ? withoutPause(before) : before,
      facts,
      ...(queries && { queries }),
      ...(serversBehind && { serversBehind }),
      ...(evidence?.holding.includes('unreachable') && { tries: 1 }), // the pulses tried before
    };
    const pulse = await loadCollectedPulse(deps, connection);
    jobs.push({ run, connection: name, engine, every, instructions, pulse });
  }
  return jobs;
}

const namesOf = `
  select m.name
    from collected_connection m
    join connection c using (account_id, connection_id)
   where m.account_id = $1 and m.collector_id = $2 and c.removed_at is null
   order by m.name`;

/** The names of the connections that a collector measures, so that it forgets all others. */
export async function listCollected(
  writer: pg.Pool,
  { accountId, collectorId }: CollectorKey,
): Promise<string[]> {
  return (await writer.query<{ name: string }>(namesOf, [accountId, collectorId])).rows.map(
    ({ name }) => name,
  );
}
