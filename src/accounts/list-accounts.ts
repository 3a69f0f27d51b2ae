import type pg from 'pg';
import { type AccountRow, accountColumns } from './account-row.ts';

const select = `select ${accountColumns} from account order by account_id`;

/** All accounts, ordered by id. */
export async function listAccounts(writer: pg.Pool): Promise<AccountRow[]> {
  return (await writer.query<AccountRow>(select)).rows;
}
