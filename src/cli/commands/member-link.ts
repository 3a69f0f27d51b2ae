import type { Command } from 'commander';
import type pg from 'pg';
import { type ChangeAccount, changeAccount } from '../../activity/record-entry.ts';
import { type LinkPurpose, recordLink } from '../../members/add-link.ts';
import { idOf, serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { printOne } from '../print.ts';

const find = `
  select l.account_id is not null as has_own_login
    from member m
    left join login l on l.login_id = m.login_id
   where m.account_id = $1 and m.member_id = $2`;

/** Makes a one-time link for a member, or (null) for somebody who becomes an owner; records who made it, null = the operator. */
async function makeLink(change: ChangeAccount, memberId: number | null) {
  return change(async ({ client, accountId, record }) => {
    let purpose: LinkPurpose = 'owner';
    if (memberId !== null) {
      const { rows } = await client.query<{ has_own_login: boolean }>(find, [accountId, memberId]);
      const [member] = rows;
      if (member === undefined) throw new Error(`Account ${accountId} has no member ${memberId}.`);
      purpose = member.has_own_login ? 'reset' : 'invitation';
    }
    const made = await recordLink(client, { accountId, purpose, memberId, createdBy: null });
    record('link_created', '/team', { member_id: memberId, purpose, expires_at: made.expires_at });
    return { ...made, purpose };
  });
}

/** The link by which the operator lets the first owner of an account in. */
export async function makeOwnerLink(writer: pg.Pool, accountId: number): Promise<string> {
  const { token } = await makeLink((work) => changeAccount(writer, accountId, work), null);
  return token;
}

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
      'address of the console (default: DBVITALS_PUBLIC_URL, else from HOST and PORT)',
      serviceUrlOf('--url'),
    )
    .action(async (options: { account: number; member?: number; url?: string; json?: boolean }) => {
      const { account, member = null, url = context.consoleUrl(), json } = options;
      const { token, purpose, expires_at } = await context.withStore((writer) =>
        makeLink((work) => changeAccount(writer, account, work), member),
      );
      printOne(json, { link: `${url.replace(/\/$/, '')}/link/${token}`, purpose, expires_at });
    });
}
