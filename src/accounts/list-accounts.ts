import type pg from 'pg';
import { type AccountRow, accountColumns } from './account-row.ts';

const select = `select ${accountColumns} from account where is_here order by account_id`;

/** All accounts that live in this store, ordered by id. */
export async function listAccounts(writer: pg.Pool): Promise<AccountRow[]> {
  return (await writer.query<AccountRow>(select)).rows;
}
