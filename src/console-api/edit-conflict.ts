import type { ActionType } from '../activity/catalogue/catalogue.ts';
import { Rejection } from '../platform/rejection.ts';
import type { Read } from '../store/read.ts';

const newest = `
  select properties ->> 'actor_name' as actor
    from activity
   where account_id = $1 and event_number is not null and action_type = $2
     and ($3::text is null or properties ->> $3 = $4::text)
   order by id desc
   limit 1`;

/** The 409 for a change based on an outdated version. It names who changed it, from the activity log. */
export async function editConflict(
  read: Read,
  accountId: number,
  actionType: ActionType,
  of: { property: string; id: number } | null,
): Promise<Rejection> {
  const [by] = await read<{ actor: string | null }>(newest, [
    accountId,
    actionType,
    of?.property ?? null,
    of?.id ?? null,
  ]);
  const who = by ? (by.actor ?? 'Someone at the command line') : 'Someone else';
  return new Rejection(
    'conflict',
    `${who} changed it after you opened it. Check the current values, then change it again.`,
  );
}
