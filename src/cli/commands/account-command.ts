import type { Command } from 'commander';
import { type AccountRow, KINDS } from '../../accounts/account-row.ts';
import { addAccount } from '../../accounts/add-account.ts';
import { type AccountChanges, changeSettings, refuseOwnLimit } from '../../accounts/change-account.ts';
import { listAccounts } from '../../accounts/list-accounts.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { PLANS } from '../../vocabulary/plans.ts';
import { countOf, idOf, oneOf, textOf } from '../arguments.ts';
import { addAccountMoveCommand } from '../cells/account-move-command.ts';
import { addCellOption } from '../cells/command-cells.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne, printProblem } from '../print.ts';
import { UsageError } from '../usage-error.ts';

/** `account create`, `account list`, `account change`, `account move`. */
export function addAccountCommands(program: Command, context: CommandContext): void {
  const group = program
    .command('account')
    .description('manage accounts: companies and persons whose databases are watched');
  const perMinute = countOf('--requests-per-minute', 1, 100_000);

  const creating = addCommand(group, 'create', 'create an account');
  addCellOption(creating, 'the cell to create it in (default: the one with the fewest accounts)')
    .requiredOption('--name <S>', 'its name', textOf('--name'))
    .requiredOption('--plan <P>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--kind <K>', KINDS.join(' or '), oneOf('--kind', KINDS), 'company')
    .option('--requests-per-minute <N>', 'request limit of each key, enterprise only', perMinute)
    .action(
      async (
        options: Pick<AccountRow, 'name' | 'plan' | 'kind'> & { requestsPerMinute?: number; json?: boolean },
      ) => {
        const { name, plan, kind, requestsPerMinute, json } = options;
        if (requestsPerMinute !== undefined) refuseOwnLimit(plan);
        const account = { name, kind, plan, requests_per_minute: requestsPerMinute ?? null };
        printOne(json, await context.withStoreForNew((writer) => addAccount(writer, account)));
      },
    );

  addCommand(group, 'list', 'list all accounts').action(async ({ json }: { json?: boolean }) => {
    const { done, away } = await context.withReachableStores(async (writer, _, cellId) =>
      (await listAccounts(writer)).map((row) => (cellId === null ? row : { ...row, cell: cellId })),
    );
    printList(json, done.flat(), ['id', 'name', 'kind', 'plan', 'requests_per_minute', 'created_at']);
    for (const { reason, accountIds } of away) reportAway(reason, accountIds);
  });

  addCommand(group, 'change', 'change an account; options that you leave out keep their values')
    .argument('<ID>', 'the account', idOf('ID'))
    .option('--name <S>', 'its name', textOf('--name'))
    .option('--plan <P>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--requests-per-minute <N>', 'request limit of each key, enterprise only', perMinute)
    .action(async (id: number, { json, ...changes }: AccountChanges & { json?: boolean }) => {
      if (Object.keys(changes).length === 0) {
        throw new UsageError('Give at least one of --name, --plan and --requests-per-minute.');
      }
      printOne(
        json,
        await context.withStore((writer) =>
          changeAccount(writer, id, (change) => changeSettings(change, changes)),
        ),
      );
    });

  addAccountMoveCommand(group, context);
}

// How many ids a sentence names.
const MOST_NAMED = 20;

function reportAway(reason: string, accountIds: readonly number[]): void {
  process.exitCode = 1;
  const named = accountIds.slice(0, MOST_NAMED).join(', ');
  const more = accountIds.length > MOST_NAMED ? ` and ${accountIds.length - MOST_NAMED} more` : '';
  const which =
    accountIds.length === 0 ? 'no account lives there' : `its accounts are not listed: ${named}${more}`;
  printProblem(`${reason.replace(/\.$/, '').replace(/\s+/g, ' ')}; ${which}.`);
}
