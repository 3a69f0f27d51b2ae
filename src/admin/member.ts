import type { Command } from 'commander';
import pg from 'pg';
import { type ActionType, type Change, changeAccount } from '../activity/record-entry.ts';
import { requireAccount } from './account.ts';
import { emailOf, idOf, oneOf, someOf, textOf } from './arguments.ts';
import { addCommand, type CommandContext, UsageError } from './command.ts';
import { printList, printOne } from './print.ts';

const ROLES = ['owner', 'admin', 'operator', 'auditor', 'viewer'] as const;
const STATUSES = ['active', 'invited', 'suspended'] as const;
const page = '/team/members';

/** A member as endpoint 7 shows it. */
interface MemberRow {
  id: number;
  name: string;
  email: string;
  roles: (typeof ROLES)[number][];
  status: (typeof STATUSES)[number];
  joined_at: Date;
  last_active_at: Date | null;
}

const columns = 'member_id as id, name, email, roles, status, joined_at, last_active_at';
const list = `select ${columns} from member where account_id = $1 order by member_id`;
const ownerOf = 'select account_id from member where member_id = $1';
const insert = `
  insert into member (account_id, name, email, roles, status, joined_at)
  values ($1, $2, $3, $4, 'active', $5)
  returning ${columns}`;
const update = `
  update member
     set name = coalesce($3, name), email = coalesce($4, email), roles = coalesce($5, roles), status = coalesce($6, status)
   where account_id = $1 and member_id = $2
  returning ${columns}`;
const remove = `
  delete from member
   where account_id = $1 and member_id = $2
  returning ${columns}`;

type Wanted = Partial<Pick<MemberRow, 'name' | 'email' | 'status'>> & { role?: MemberRow['roles'] };

/** Changes one member and records it as `actionType`; `changed` names the fields. Throws when there is no such member. */
async function changeMember(
  writer: pg.Pool,
  accountId: number,
  actionType: ActionType,
  changed: string[],
  work: (change: Change) => Promise<pg.QueryResult<MemberRow>>,
): Promise<MemberRow> {
  try {
    return await changeAccount(writer, accountId, async (change) => {
      const [member] = (await work(change)).rows;
      if (member === undefined) throw new Error('The member was removed in the meantime.');
      const { id, name, email, roles, status } = member;
      const properties = { member_id: id, name, email, roles, status };
      change.record(actionType, page, changed.length > 0 ? { ...properties, changed } : properties);
      return member;
    });
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.constraint === 'member_email') {
      throw new Error(`Account ${accountId} has a member with this e-mail address already: give another.`);
    }
    throw error;
  }
}

async function accountOf(writer: pg.Pool, id: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [id]);
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no member ${id}.`);
  return row.account_id;
}

/** `member add`, `member list`, `member change`, `member remove`. */
export function addMemberCommands(program: Command, context: CommandContext): void {
  const group = program.command('member').description('persons of an account and their roles');
  const role = someOf('--role', ROLES);

  addCommand(group, 'add', 'add a member')
    .requiredOption('--account <ID>', 'the account', idOf('--account'))
    .requiredOption('--name <S>', 'the name', textOf('--name'))
    .requiredOption('--email <E>', 'the e-mail address, once in an account', emailOf('--email'))
    .requiredOption('--role <R>', `${ROLES.join(', ')}; may be given several times`, role)
    .action(async (options: Required<Omit<Wanted, 'status'>> & { account: number; json?: boolean }) => {
      const { account, name, email, role: roles, json } = options;
      const member = await context.withStore((writer) =>
        changeMember(writer, account, 'member_added', [], ({ client, at }) =>
          client.query<MemberRow>(insert, [account, name, email, roles, at]),
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

  addCommand(group, 'change', 'change a member; what is not given stays')
    .argument('<ID>', 'the member', idOf('ID'))
    .option('--name <S>', 'the name', textOf('--name'))
    .option('--email <E>', 'the e-mail address, once in an account', emailOf('--email'))
    .option('--role <R>', `${ROLES.join(', ')}; may be given several times, and replaces all`, role)
    .option('--status <S>', STATUSES.join(', '), oneOf('--status', STATUSES))
    .action(async (id: number, { json, ...wanted }: Wanted & { json?: boolean }) => {
      const changed = Object.keys(wanted).map((field) => (field === 'role' ? 'roles' : field));
      if (changed.length === 0) {
        throw new UsageError('Give --name, --email, --role or --status to say what to change.');
      }
      const member = await context.withStore(async (writer) => {
        const account = await accountOf(writer, id);
        return changeMember(writer, account, 'member_changed', changed, ({ client }) =>
          client.query<MemberRow>(update, [
            account,
            id,
            wanted.name,
            wanted.email,
            wanted.role,
            wanted.status,
          ]),
        );
      });
      printOne(json, member);
    });

  addCommand(group, 'remove', 'remove a member')
    .argument('<ID>', 'the member', idOf('ID'))
    .action(async (id: number, { json }: { json?: boolean }) => {
      const member = await context.withStore(async (writer) => {
        const account = await accountOf(writer, id);
        return changeMember(writer, account, 'member_removed', [], ({ client }) =>
          client.query<MemberRow>(remove, [account, id]),
        );
      });
      printOne(json, member);
    });
}
