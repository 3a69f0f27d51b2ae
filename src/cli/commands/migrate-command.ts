import type { Command } from 'commander';
import { addCommand, type CommandContext } from '../command.ts';
import { jsonLine, printList } from '../print.ts';

/** `migrate`. */
export function addMigrateCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'migrate', 'create the store, or bring its schema up to date')
    .option('--plan', 'show the pending migrations and about how long they take, and change nothing')
    .action(async ({ plan, json }: { plan?: boolean; json?: boolean }) => {
      if (plan) return printPlan(await context.planMigrations(), json);
      const applied = await context.migrate();
      if (json) process.stdout.write(jsonLine({ applied }));
      else if (applied.length === 0) process.stdout.write('The schema is up to date.\n');
      else process.stdout.write(applied.map((name) => `applied ${name}\n`).join(''));
    });
}

type Plan = Awaited<ReturnType<CommandContext['planMigrations']>>;

function printPlan(pending: Plan, json: boolean | undefined): void {
  if (json) {
    process.stdout.write(jsonLine({ pending }));
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
All migrations run in one transaction, ${all} in total. If one fails, nothing changes.
The times are rough estimates: they were measured on a machine with two cores and scaled to
your rows. Requests wait during that time, and fail with 500 after 2 s.
`);
}

function about(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  return seconds < 120 ? `about ${Math.ceil(seconds)} s` : `about ${Math.ceil(seconds / 60)} min`;
}
