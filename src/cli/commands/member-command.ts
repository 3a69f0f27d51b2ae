import type { Command } from 'commander';
import { requireAccount } from '../../accounts/account-row.ts';
import { addMember } from '../../accounts/members/add-member.ts';
import { changeMember } from '../../accounts/members/change-member.ts';
import { listMembers } from '../../accounts/members/list-members.ts';
import { accountOfMember, MEMBER_STATUSES, type WantedMember } from '../../accounts/members/member-row.ts';
import { removeMember } from '../../accounts/members/remove-member.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { ROLE_IDS } from '../../vocabulary/role-permissions.ts';
import { emailOf, idOf, oneOf, someOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { UsageError } from '../usage-error.ts';
import { addMemberLinkCommand } from './member-link-command.ts';

type Wanted = Partial<Omit<WantedMember, 'roles'>> & { role?: WantedMember['roles'] };

/** `member add`, `member list`, `member change`, `member remove`, `member link`. */
export function addMemberCommands(program: Command, context: CommandContext): void {
  const group = program.command('member').description('manage the members of an account and their roles');
  const role = someOf('--role', ROLE_IDS);

  addCommand(group, 'add', 'add a member')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'name of the member', textOf('--name'))
    .requiredOption('--email <E>', 'e-mail address, unique in the account', emailOf('--email'))
    .requiredOption('--role <R>', `${ROLE_IDS.join(', ')}; may be repeated`, role)
    .action(async (options: Required<Omit<Wanted, 'status'>> & { account: number; json?: boolean }) => {
      const { account, name, email, role: roles, json } = options;
      const member = await context.withStore((writer) =>
        changeAccount(writer, account, (change) =>
          addMember(change, { name, email, roles, status: 'active' }),
        ),
      );
      printOne(json, member);
    });

  addCommand(group, 'list', 'list the members of an account')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .action(async ({ account, json }: { account: number; json?: boolean }) => {
      const members = await context.withStore(async (writer) => {
        await requireAccount(writer, account);
        return listMembers(writer, account);
      });
      printList(json, members, ['id', 'name', 'email', 'roles', 'status', 'joined_at', 'last_active_at']);
    });

  addCommand(group, 'change', 'change a member; options that you leave out keep their values')
    .argument('<ID>', 'the member', idOf('ID'))
    .option('--name <S>', 'name of the member', textOf('--name'))
    .option('--email <E>', 'e-mail address, unique in the account', emailOf('--email'))
    .option('--role <R>', `${ROLE_IDS.join(', ')}; may be repeated, and replaces all roles`, role)
    .option('--status <S>', MEMBER_STATUSES.join(', '), oneOf('--status', MEMBER_STATUSES))
    .action(async (id: number, { json, role: roles, ...others }: Wanted & { json?: boolean }) => {
      const wanted = roles === undefined ? others : { ...others, roles };
      if (Object.keys(wanted).length === 0) {
        throw new UsageError('Give at least one of --name, --email, --role and --status.');
      }
      const member = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfMember(writer, id), (change) =>
          changeMember(change, id, wanted),
        ),
      );
      printOne(json, member);
    });

  addCommand(group, 'remove', 'remove a member')
    .argument('<ID>', 'the member', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const member = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOfMember(writer, id), (change) => removeMember(change, id)),
      );
      printOne(json, member);
    });

  addMemberLinkCommand(group, context);
}
