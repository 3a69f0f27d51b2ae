import type { Command } from 'commander';
import { OWN_OPERATORS, OWN_UNITS } from '../../checks/own/own-check.ts';
import { ownerOfConnection } from '../../connections/connection-row.ts';
import { TIMEOUT_SECONDS } from '../../connections/own-checks/own-check-rules.ts';
import type { OwnTrial, TriedCheck } from '../../monitor/own-checks/try-own-check.ts';
import { idOf, numberOf, oneOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { timeoutOf } from './own-check-schema.ts';

/** `check try`. */
export function addTryCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'try', 'run a statement for an own check once, and store no result')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .requiredOption('--sql <SQL>', 'one SELECT that gives value, or rows of object and value')
    .option('--unit <U>', `${OWN_UNITS.join(', ')} (default: count)`, oneOf('--unit', OWN_UNITS))
    .option(
      '--operator <O>',
      `${OWN_OPERATORS.join(' or ')} (default: >=)`,
      oneOf('--operator', OWN_OPERATORS),
    )
    .option('--warning <N>', 'the value from which it is a warning', numberOf('--warning'))
    .option('--critical <N>', 'the value from which it is critical', numberOf('--critical'))
    .option('--database <S>', 'the database in which it runs (default: that of the connection)')
    .option(
      '--timeout <D>',
      `how long it may take, 1s to 30s (default: ${TIMEOUT_SECONDS.usual}s)`,
      timeoutOf('--timeout'),
    )
    .action(async ({ connection: connectionId, json, ...options }: TryOptions) => {
      const tried: TriedCheck = {
        unit: 'count',
        operator: '>=',
        warning: null,
        critical: null,
        database: null,
        timeout: TIMEOUT_SECONDS.usual,
        ...options,
      };
      const trial = await context.withStore(async (writer) => {
        const accountId = await ownerOfConnection(writer, connectionId);
        return context.tryOwnCheck(writer, { accountId, connectionId }, tried);
      });
      print(trial, json);
      if (trial.status === 'error' || trial.status === 'skipped') process.exitCode = 1;
    });
}

type TryOptions = Partial<TriedCheck> & { connection: number; sql: string; json?: boolean };

function print(trial: OwnTrial, json: boolean | undefined): void {
  if (json) {
    printOne(json, trial);
    return;
  }
  const { values, cost, ...rest } = trial;
  printOne(json, { ...rest, cost: `${Math.round(cost.milliseconds)} ms, ${cost.bytes} bytes` });
  if (values.length === 0) return;
  process.stdout.write('\n');
  printList(json, values, ['object', 'value']);
}
