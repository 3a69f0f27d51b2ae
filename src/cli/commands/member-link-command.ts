import type { Command } from 'commander';
import { addOperatorLink } from '../../accounts/members/add-link.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { idOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printOne } from '../print.ts';

/** `member link`. */
export function addMemberLinkCommand(group: Command, context: CommandContext): void {
  addCommand(group, 'link', 'create a sign-in link that works once; it is shown only once')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .option(
      '--member <ID>',
      'the member (default: a new owner, the person who opens the link)',
      idOf('--member'),
    )
    .option(
      '--url <URL>',
      'address of the console (default: that of the service of the data folder, else DBVITALS_PUBLIC_URL, else from HOST and PORT)',
      serviceUrlOf('--url'),
    )
    .action(async (options: { account: number; member?: number; url?: string; json?: boolean }) => {
      const { account, member = null, url = context.consoleUrl(), json } = options;
      const { token, purpose, expires_at } = await context.withStore((writer) =>
        changeAccount(writer, account, (change) => addOperatorLink(change, member)),
      );
      printOne(json, { link: `${url.replace(/\/$/, '')}/link/${token}`, purpose, expires_at });
    });
}
