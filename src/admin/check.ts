import type { Command } from 'commander';
import { idOf } from './arguments.ts';
import { addCommand, type CheckResult, type CommandContext } from './command.ts';
import { ownerOfConnection } from './connection-row.ts';

function printResult({ score, summary_text, checks }: CheckResult): void {
  const width = Math.max(...checks.map(({ status }) => status.length));
  process.stdout.write(`score ${score}: ${summary_text}\n\n`);
  for (const { status, check_id, title, metric_line, remediation } of checks) {
    process.stdout.write(`${status.padEnd(width)}  ${title} (${check_id}): ${metric_line}\n`);
    if (['info', 'warning', 'critical'].includes(status) && remediation !== '') {
      process.stdout.write(
        `${' '.repeat(width)}  ${remediation.replaceAll('\n', `\n${' '.repeat(width + 2)}`)}\n`,
      );
    }
  }
}

/** `check run`. */
export function addCheckCommands(program: Command, context: CommandContext): void {
  const group = program.command('check').description('health checks');

  addCommand(group, 'run', 'run a health check now and print its findings, worst first')
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .action(async ({ connection, json }: { connection: number; json?: boolean }) => {
      const result = await context.withStore(async (writer) =>
        context.runHealthCheck(writer, {
          accountId: await ownerOfConnection(writer, connection),
          connectionId: connection,
        }),
      );
      if (json) process.stdout.write(`${JSON.stringify(result)}\n`);
      else printResult(result);
    });
}
