import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { accountOfCollector, listCollectors } from '../../accounts/collectors/collector-row.ts';
import { issueToken } from '../../accounts/collectors/issue-token.ts';
import { revokeCollector } from '../../accounts/collectors/revoke-collector.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { within } from '../../store/read.ts';
import { idOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';

const COLUMNS = ['id', 'name', 'state', 'fingerprint', 'version', 'last_contact_at', 'connections'];

/** `collector enrol`, `collector list`, `collector revoke`. */
export function addCollectorCommands(program: Command, context: CommandContext): void {
  const group = program
    .command('collector')
    .description('manage the collectors that measure databases which the service cannot reach');

  addCommand(group, 'enrol', 'make a token with which a collector enrols itself once, within an hour')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption(
      '--name <S>',
      'name of the collector; the token of a known one replaces its key when it is used',
      textOf('--name'),
    )
    .action(async ({ account, name, json }: { account: number; name: string; json?: boolean }) => {
      const issued = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return changeAccount(writer, account, (change) => issueToken(change, name));
      });
      printOne(json, issued);
    });

  addCommand(group, 'list', 'list the collectors of an account')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const listed = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listCollectors(within(writer), account);
      });
      printList(json, listed, COLUMNS);
    });

  addCommand(group, 'revoke', 'revoke a collector at once; its connections stay and are not measured')
    .argument('<ID>', 'the collector', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const revoked = await context.withStore(async (writer) => {
        const accountId = await accountOfCollector(writer, id);
        return changeAccount(writer, accountId, (change) => revokeCollector(change, id));
      });
      printOne(json, revoked);
    });
}
