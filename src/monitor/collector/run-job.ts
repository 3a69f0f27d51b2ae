import type { Outcome } from '../../checks/check.ts';
import { type OwnCheck, toCheck } from '../../checks/own/own-check.ts';
import { familyOf } from '../../vocabulary/engines.ts';
import type { CollectedJob } from '../collected/hand-out.ts';
import { type Measured, nothingMeasured, unknownConnectionOutcome } from '../nothing-measured.ts';
import { plainCheck, plainFinding } from '../outcome.ts';
import { measureLoaded } from '../tokens/measure-loaded.ts';
import type { CollectorTargets } from './collector-target.ts';

/** Runs a job on the target that the collector's own file has for it. Throws the reason of `signal`. */
export async function runJob(
  { connection, engine, instructions }: Omit<CollectedJob, 'run'>,
  targets: CollectorTargets,
  signal: AbortSignal,
): Promise<Measured> {
  const known = targets.get(connection);
  if (!known) return nothingMeasured([unknownConnectionOutcome(connection, null)]);
  const { target, tokenCommand, queryTexts, ownChecks } = known;
  if (familyOf(target.engine) !== familyOf(engine))
    return nothingMeasured([unknownConnectionOutcome(connection, target.engine)]);
  const { queries, own: statements = [] } = instructions;
  const job = {
    accountId: 0, // a collector measures for one account
    target,
    instructions: {
      ...instructions,
      // The file names the servers of the site, which have private addresses.
      allowPrivateTargets: true,
      began: Date.now(),
      own: ownChecks ? statements : [],
      ...(queries && { queries: queryTexts ? queries : { ...queries, texts: null } }),
    },
  };
  const tokenSource = tokenCommand && connection;
  const commands = tokenCommand ? { [connection]: tokenCommand } : {};
  const measured = await measureLoaded({ job, tokenSource }, commands, signal);
  if (ownChecks) return measured;
  return { ...measured, outcomes: [...measured.outcomes, ...statements.map(forbiddenOutcome)] };
}

/** An own check that the collector's file does not allow. */
function forbiddenOutcome(own: OwnCheck): Outcome {
  const check = plainCheck(toCheck(own));
  const line = 'Not measured: own_checks is not true for this connection in the file of the collector.';
  return {
    check,
    findings: [plainFinding(check, 'skipped', line)],
    measured: false,
    unmeasured: [],
    near: [],
  };
}
