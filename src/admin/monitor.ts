import type { Command } from 'commander';
import { addCommand, type CommandContext } from './command.ts';

/** `monitor`. */
export function addMonitorCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'monitor',
    'run the health checks that are due, until SIGTERM; any number of monitors share the work',
  ).action(async () => {
    const stopped = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort());
    await context.withStore((writer) => context.monitor(writer, stopped.signal));
  });
}
