import type { ChangeAccount } from '../../activity/record-entry.ts';

/** What a member did of the first steps. */
export interface OnboardingChanges {
  /** The member read a finding. */
  finding_read?: boolean | undefined;
  /** Whether the list of first steps is closed. */
  dismissed?: boolean | undefined;
}

const store = `
  insert into onboarding as o (account_id, member_id, finding_read_at, dismissed_at)
  values ($1, $2, case when $4::boolean then $3::timestamptz end, case when $5::boolean then $3::timestamptz end)
  on conflict (account_id, member_id) do update
     set finding_read_at = coalesce(o.finding_read_at, excluded.finding_read_at),
         dismissed_at = case when $5::boolean is null then o.dismissed_at else excluded.dismissed_at end`;

/** Stores what a member did of the first steps. It changes only what that member is shown, so the log has no entry of it. */
export function changeOnboarding(
  change: ChangeAccount,
  memberId: number,
  { finding_read = false, dismissed }: OnboardingChanges,
): Promise<void> {
  return change(async ({ accountId, client, at }) => {
    await client.query(store, [accountId, memberId, at, finding_read, dismissed ?? null]);
  });
}
