import type { Command } from 'commander';
import type pg from 'pg';
import {
  type AccountChanges,
  type AccountRow,
  accountColumns,
  accountOf,
  accountPage,
  changeSettings,
  KINDS,
  refuseOwnLimit,
} from '../../accounts/change-account.ts';
import { changeAccount, changeWithin } from '../../activity/record-entry.ts';
import { inTransaction } from '../../database/connect.ts';
import { PLANS } from '../../vocabulary/plans.ts';
import { countOf, idOf, oneOf, textOf } from '../arguments.ts';
import { addCommand, type CommandContext, UsageError } from '../command.ts';
import { printList, printOne } from '../print.ts';

const list = `select ${accountColumns} from account order by account_id`;
const insert = `
  insert into account (name, kind, plan, requests_per_minute)
  values ($1, $2, $3, $4)
  returning ${accountColumns}`;
const insertHead = 'insert into activity_head (account_id) values ($1)';

/** What a new account is. */
export type NewAccount = Pick<AccountRow, 'name' | 'kind' | 'plan' | 'requests_per_minute'>;

/** Creates an account and the first entry of its log. */
export function createAccount(writer: pg.Pool, account: NewAccount): Promise<AccountRow> {
  return inTransaction(writer, (client) => createWithin(client, account));
}

/** {@link createAccount} inside a transaction of the caller's own. */
export async function createWithin(client: pg.ClientBase, account: NewAccount): Promise<AccountRow> {
  const { rows } = await client.query<AccountRow>(insert, [
    account.name,
    account.kind,
    account.plan,
    account.requests_per_minute,
  ]);
  const created = accountOf(rows, 0);
  await client.query(insertHead, [created.id]);
  await changeWithin(client, created.id, async ({ record }) => {
    record('account_created', accountPage, { ...account });
  });
  return created;
}

/** Throws when there is no such account: a list of nothing would hide a mistyped id. */
export async function requireAccount(writer: pg.Pool, id: number): Promise<void> {
  const { rowCount } = await writer.query('select from account where account_id = $1', [id]);
  if (rowCount === 0) throw new Error(`There is no account ${id}.`);
}

/** `account create`, `account list`, `account change`. */
export function addAccountCommands(program: Command, context: CommandContext): void {
  const group = program
    .command('account')
    .description('manage accounts, the companies and people whose databases are watched');
  const perMinute = countOf('--requests-per-minute', 1, 100_000);

  addCommand(group, 'create', 'create an account')
    .requiredOption('--name <S>', 'name of the account', textOf('--name'))
    .requiredOption('--plan <P>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--kind <K>', KINDS.join(' or '), oneOf('--kind', KINDS), 'company')
    .option('--requests-per-minute <N>', 'request limit of each key, enterprise plan only', perMinute)
    .action(
      async (
        options: Pick<AccountRow, 'name' | 'plan' | 'kind'> & { requestsPerMinute?: number; json?: boolean },
      ) => {
        const { name, plan, kind, requestsPerMinute, json } = options;
        if (requestsPerMinute !== undefined) refuseOwnLimit(plan);
        const account = { name, kind, plan, requests_per_minute: requestsPerMinute ?? null };
        printOne(json, await context.withStore((writer) => createAccount(writer, account)));
      },
    );

  addCommand(group, 'list', 'list all accounts').action(async ({ json }: { json?: boolean }) => {
    const { rows } = await context.withStore((writer) => writer.query<AccountRow>(list));
    printList(json, rows, ['id', 'name', 'kind', 'plan', 'requests_per_minute', 'created_at']);
  });

  addCommand(group, 'change', 'change an account; options that you leave out keep their values')
    .argument('<ID>', 'the account', idOf('ID'))
    .option('--name <S>', 'name of the account', textOf('--name'))
    .option('--plan <P>', PLANS.join(', '), oneOf('--plan', PLANS))
    .option('--requests-per-minute <N>', 'request limit of each key, enterprise plan only', perMinute)
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
}
