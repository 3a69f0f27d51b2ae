import { fieldChanges } from '../activity/field-changes.ts';
import type { Change } from '../activity/record-entry.ts';
import { Rejection } from '../platform/rejection.ts';
import { type AccountRow, accountColumns, accountOf, accountPage } from './account-row.ts';

const lock = `select ${accountColumns} from account where account_id = $1 for update`;
const update = `
  update account
     set name = $2, plan = $3, requests_per_minute = $4
   where account_id = $1
  returning ${accountColumns}`;

/** Changes to an account; absent fields keep their values. A limit of null is the plan's limit. */
export type AccountChanges = Partial<Pick<AccountRow, 'name' | 'plan'>> & {
  requestsPerMinute?: number | null;
};

/** Changes an account. Only enterprise accounts may have their own limit; another plan removes it. Throws for both together. */
export async function changeSettings(
  { accountId, client, record }: Change,
  changes: AccountChanges,
): Promise<AccountRow> {
  const before = accountOf((await client.query<AccountRow>(lock, [accountId])).rows, accountId);
  const plan = changes.plan ?? before.plan;
  const { requestsPerMinute = plan === 'enterprise' ? before.requests_per_minute : null } = changes;
  if (typeof changes.requestsPerMinute === 'number') refuseOwnLimit(plan);
  const wanted = { name: changes.name ?? before.name, plan, requests_per_minute: requestsPerMinute };
  const { rows } = await client.query<AccountRow>(update, [
    accountId,
    wanted.name,
    wanted.plan,
    wanted.requests_per_minute,
  ]);
  const was = { name: before.name, plan: before.plan, requests_per_minute: before.requests_per_minute };
  record('account_changed', accountPage, { ...wanted, ...fieldChanges(was, wanted) });
  return accountOf(rows, accountId);
}

/** Throws when the plan has a fixed limit. */
export function refuseOwnLimit(plan: string): void {
  if (plan === 'enterprise') return;
  throw new Rejection(
    'invalid_parameter',
    '--requests-per-minute is for the plan enterprise only: the other plans have fixed limits.',
  );
}
