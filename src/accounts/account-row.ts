import type pg from 'pg';
import type { Plan } from '../vocabulary/plans.ts';

export const KINDS = ['company', 'individual'] as const;

/** An account as the commands show it. `requests_per_minute` overrides the plan's limit; null = the plan's limit. */
export interface AccountRow {
  id: number;
  name: string;
  kind: (typeof KINDS)[number];
  plan: Plan;
  requests_per_minute: number | null;
  created_at: Date;
}

/** The console page that log entries about an account link to. */
export const accountPage = '/account';

export const accountColumns = 'account_id as id, name, kind, plan, requests_per_minute, created_at';

/** Throws when the account does not exist: an empty list would hide a mistyped id. */
export async function requireAccount(writer: pg.Pool, id: number): Promise<void> {
  const { rowCount } = await writer.query('select from account where account_id = $1', [id]);
  if (rowCount === 0) throw new Error(`There is no account ${id}.`);
}

/** Returns the account's row. Throws when there is none. */
export function accountOf(rows: AccountRow[], id: number): AccountRow {
  const [row] = rows;
  if (row === undefined) throw new Error(`There is no account ${id}.`);
  return row;
}
