import type { Command } from 'commander';
import { addCommand, type CommandContext } from '../command.ts';
import { printList } from '../print.ts';

/** `migrate`. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'migrate', 'create the store, or bring its schema up to date')
    .option('--plan', 'show the pending migrations and about how long they take, and change nothing')
    .action(async ({ plan, json }: { plan?: boolean; json?: boolean }) => {
      if (plan) return printPlan(await context.planMigrations(), json);
      const applied = await context.migrate();
      if (json) process.stdout.write(`${JSON.stringify({ applied })}\n`);
      else if (applied.length === 0) process.stdout.write('The schema is up to date.\n');
      else process.stdout.write(applied.map((name) => `applied ${name}\n`).join(''));
    });
}

type Plan = Awaited<ReturnType<CommandContext['planMigrations']>>;

function printPlan(pending: Plan, json: boolean | undefined): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ pending })}\n`);
    return;
  }
  if (pending.length === 0) {
    process.stdout.write('The schema is up to date.\n');
    return;
  }
  printList(
    false,
    pending.map(({ seconds, ...migration }) => ({ ...migration, takes: about(seconds) })),
    ['name', 'takes', 'what'],
  );
  const all = about(pending.reduce((sum, { seconds }) => sum + seconds, 0));
  process.stdout.write(`
All are applied in one transaction, ${all} in all; if one fails the store stays as it is.
The times are measured ones of a machine with two cores, multiplied by your rows: take them
for the order of magnitude. Meanwhile requests wait; after 2 s they are answered 500.
`);
}

function about(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  return seconds < 120 ? `about ${Math.ceil(seconds)} s` : `about ${Math.ceil(seconds / 60)} min`;
}
