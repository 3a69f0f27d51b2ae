import { catalogues } from '../../checks/catalogue.ts';
import type { CollectedJob } from '../collected/hand-out.ts';
import { type Measured, nothingMeasured, unknownConnectionOutcome } from '../nothing-measured.ts';
import { measureLoaded } from '../tokens/measure-loaded.ts';
import type { CollectorTargets } from './collector-target.ts';

/** Runs a job on the target that the collector's own file has for it. Throws the reason of `signal`. */
export async function runJob(
  { connection, engine, instructions }: CollectedJob,
  targets: CollectorTargets,
  signal: AbortSignal,
): Promise<Measured> {
  const own = targets.get(connection);
  if (!own) return nothingMeasured([unknownConnectionOutcome(connection, null)]);
  const { target, tokenCommand, queryTexts } = own;
  if (catalogues[target.engine] !== catalogues[engine])
    return nothingMeasured([unknownConnectionOutcome(connection, target.engine)]);
  const { queries } = instructions;
  const job = {
    target,
    instructions: {
      ...instructions,
      // The file names the servers of the site, which have private addresses.
      allowPrivateTargets: true,
      began: Date.now(),
      ...(queries && { queries: queryTexts ? queries : { ...queries, texts: null } }),
    },
  };
  const tokenSource = tokenCommand && connection;
  return measureLoaded({ job, tokenSource }, tokenCommand ? { [connection]: tokenCommand } : {}, signal);
}
