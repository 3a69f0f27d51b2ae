import type { Command } from 'commander';
import { addCommand, type CommandContext } from './command.ts';

/** `migrate`. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'migrate', "bring the store's schema up to date").action(
    async ({ json }: { json?: boolean }) => {
      const applied = await context.migrate();
      if (json) process.stdout.write(`${JSON.stringify({ applied })}\n`);
      else if (applied.length === 0) process.stdout.write('The schema is up to date.\n');
      else process.stdout.write(applied.map((name) => `applied ${name}\n`).join(''));
    },
  );
}
