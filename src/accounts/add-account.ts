import type pg from 'pg';
import { changeWithin } from '../activity/record-entry.ts';
import { addPresetRules } from '../notifications/alerts/preset-rules.ts';
import { inTransaction } from '../store/connect.ts';
import { registerAccount } from '../store/directory/register.ts';
import { type AccountRow, accountColumns, accountOf, accountPage } from './account-row.ts';

const insert = `
  insert into account (name, kind, plan, requests_per_minute)
  values ($1, $2, $3, $4)
  returning ${accountColumns}`;
const insertHead = 'insert into activity_head (account_id) values ($1)';

/** The properties of a new account. */
export type NewAccount = Pick<AccountRow, 'name' | 'kind' | 'plan' | 'requests_per_minute'>;

/** Adds an account with the preset alert rules, and the first entry of its log. */
export function addAccount(writer: pg.Pool, account: NewAccount): Promise<AccountRow> {
  return inTransaction(writer, (client) => addAccountWithin(client, account));
}

/** {@link addAccount} inside the caller's transaction. */
export async function addAccountWithin(client: pg.ClientBase, account: NewAccount): Promise<AccountRow> {
  const { rows } = await client.query<AccountRow>(insert, [
    account.name,
    account.kind,
    account.plan,
    account.requests_per_minute,
  ]);
  const added = accountOf(rows, 0);
  await registerAccount(client, added.id);
  await client.query(insertHead, [added.id]);
  await changeWithin(client, added.id, async ({ at, record }) => {
    record('account_created', accountPage, { ...account });
    await addPresetRules(client, added.id, at);
  });
  return added;
}
