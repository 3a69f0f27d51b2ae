import type pg from 'pg';
import type { Plan } from '../vocabulary/plans.ts';

export const KINDS = ['company', 'individual'] as const;

/** An account as the commands show it; `requests_per_minute` is its own limit, null = that of its plan. */
export interface AccountRow {
  id: number;
  name: string;
  kind: (typeof KINDS)[number];
  plan: Plan;
  requests_per_minute: number | null;
  created_at: Date;
}

/** The page of the console that entries about an account name. */
export const accountPage = '/account';

export const accountColumns = 'account_id as id, name, kind, plan, requests_per_minute, created_at';

/** Throws when there is no such account: a list of nothing would hide a mistyped id. */
export async function requireAccount(writer: pg.Pool, id: number): Promise<void> {
  const { rowCount } = await writer.query('select from account where account_id = $1', [id]);
  if (rowCount === 0) throw new Error(`There is no account ${id}.`);
}

/** The one row that there must be. */
export function accountOf(rows: AccountRow[], id: number): AccountRow {
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no account ${id}.`);
  return row;
}
