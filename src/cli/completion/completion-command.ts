import type { Command } from 'commander';
import { oneOf } from '../arguments.ts';
import { completionScript, describeCommands, SHELLS, type Shell } from './completion-scripts.ts';

/** `completion`. `addOthers` adds the commands that are not loaded yet. */
export function addCompletionCommand(program: Command, addOthers: () => Promise<void>): void {
  program
    .command('completion')
    .description('print the script by which a shell completes commands and options')
    .argument('<SHELL>', SHELLS.join(', '), oneOf('SHELL', SHELLS))
    .action(async (shell: Shell) => {
      await addOthers();
      process.stdout.write(completionScript(shell, describeCommands(program)));
    });
}
