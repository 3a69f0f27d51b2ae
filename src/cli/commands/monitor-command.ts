import type { Command } from 'commander';
import { countOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';

/** Adds `--concurrency`, also for `serve`. */
export function addConcurrencyOption(command: Command): Command {
  return command.option(
    '--concurrency <N>',
    'health checks to run at the same time, 1 to 100',
    countOf('--concurrency', 1, 100),
    10,
  );
}

/** `monitor`. */
export function addMonitorCommand(program: Command, context: CommandContext): void {
  const command = addCommand(
    program,
    'monitor',
    'run only the monitor; several monitors share the health checks that are due',
  );
  addConcurrencyOption(command).action(async ({ concurrency }: { concurrency: number }) => {
    const stopped = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort());
    await context.monitor(concurrency, stopped.signal);
  });
}
