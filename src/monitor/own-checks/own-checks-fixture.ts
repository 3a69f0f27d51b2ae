import type { Outcome } from '../../checks/check.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import { isSqlEngine } from '../../vocabulary/engines.ts';
import { measureInChild } from '../children/measure-in-child.ts';
import type { Target } from '../session/session.ts';

const NEVER = new AbortController().signal;

/** Measures a target with these statements as own checks, as a run does. Returns their outcomes, in order. */
export async function measureStatements(
  target: Target,
  statements: readonly string[],
  timeout = 1,
): Promise<(Outcome | undefined)[]> {
  const { engine } = target;
  if (!isSqlEngine(engine)) throw new Error(`${engine} runs no statement.`);
  const own = statements.map((sql, at) => ownCheck({ id: `T${at}`, engine, sql, timeout }));
  const instructions = { allowPrivateTargets: true, thresholds: {}, own };
  const { outcomes } = await measureInChild({ target, instructions }, NEVER);
  return own.map(({ id }) => outcomes.find(({ check }) => check.id === `OWN_${id}`));
}

/** The line of the only finding of an own check. */
export function lineOf(outcome: Outcome | undefined): string | undefined {
  return outcome?.findings.length === 1 ? outcome.findings[0]?.metric_line : undefined;
}
