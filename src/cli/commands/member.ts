import type { Command } from 'commander';
import type pg from 'pg';
import { changeAccount } from '../../activity/record-entry.ts';
import {
  addMember,
  changeMember,
  MEMBER_STATUSES,
  type MemberRow,
  memberColumns,
  removeMember,
  type WantedMember,
} from '../../members/change-member.ts';
import { ROLE_IDS } from '../../vocabulary/roles.ts';
import { emailOf, idOf, oneOf, someOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext, UsageError } from '../command.ts';
import { printList, printOne } from '../print.ts';
import { requireAccount } from './account.ts';
import { addMemberLinkCommand } from './member-link.ts';

const list = `select ${memberColumns} from member where account_id = $1 order by member_id`;
const ownerOf = 'select account_id from member where member_id = $1';
type Wanted = Partial<Omit<WantedMember, 'roles'>> & { role?: WantedMember['roles'] };

async function accountOf(writer: pg.Pool, id: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [id]);
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no member ${id}.`);
  return row.account_id;
}

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
        return (await writer.query<MemberRow>(list, [account])).rows;
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
        changeAccount(writer, await accountOf(writer, id), (change) => changeMember(change, id, wanted)),
      );
      printOne(json, member);
    });

  addCommand(group, 'remove', 'remove a member')
    .argument('<ID>', 'the member', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const member = await context.withStore(async (writer) =>
        changeAccount(writer, await accountOf(writer, id), (change) => removeMember(change, id)),
      );
      printOne(json, member);
    });

  addMemberLinkCommand(group, context);
}
