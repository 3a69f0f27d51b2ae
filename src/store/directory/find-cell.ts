import type pg from 'pg';
import { findAccountPlace } from './directory.ts';

/** The things that a command names by their id alone: their tables, whose ids are unique over all cells. */
export const NAMED_BY_ID = {
  alert: ['alert', 'alert_id'],
  connection: ['connection', 'connection_id'],
  destination: ['destination', 'destination_id'],
  key: ['api_key', 'api_key_id'],
  maintenance: ['maintenance', 'maintenance_id'],
  member: ['member', 'member_id'],
  rule: ['alert_rule', 'rule_id'],
  silence: ['silence', 'silence_id'],
} as const;

/** What a command is about: an account, or a thing of one. */
export type Subject =
  | { readonly account: number }
  | { readonly kind: keyof typeof NAMED_BY_ID; readonly id: number };

/** The cell of an account. Throws a sentence if there is none, or if the account is being moved. */
export async function cellOfAccount(control: pg.Pool, accountId: number): Promise<number> {
  const place = await findAccountPlace(control, accountId);
  if (place === null) throw new Error(`There is no account ${accountId}.`);
  if (place.state === 'moving') {
    throw new Error(`Account ${accountId} is being moved to another cell: try again when that has ended.`);
  }
  return place.cellId;
}

/** The account of a thing, if this cell has a row of it; null = it has none. */
export async function accountOfThing(
  cell: pg.Pool,
  { kind, id }: { kind: keyof typeof NAMED_BY_ID; id: number },
): Promise<number | null> {
  const [table, column] = NAMED_BY_ID[kind];
  const { rows } = await cell.query<{ account_id: number }>(
    `select account_id from ${table} where ${column} = $1`,
    [id],
  );
  return rows[0]?.account_id ?? null;
}
