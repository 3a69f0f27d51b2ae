import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { type SavedView, toViewProperties, type ViewOwner, viewColumns } from './saved-view.ts';

const remove = `
  delete from saved_view
   where account_id = $1 and view_id = $2 and coalesce(member_id, 0) = coalesce($3, 0)
  returning ${viewColumns}`;

/** Removes a view. Throws `notFound`. */
export function removeView(change: ChangeAccount, { memberId }: ViewOwner, viewId: number): Promise<void> {
  return change(async ({ accountId, client, record }) => {
    const { rows } = await client.query<SavedView>(remove, [accountId, viewId, memberId]);
    const [removed] = rows;
    if (!removed) throw notFound();
    record('saved_view_removed', `/${removed.page}`, toViewProperties(removed));
  });
}
