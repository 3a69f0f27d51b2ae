import type { ChangeAccount } from '../activity/record-entry.ts';
import { nameTaken } from './add-view.ts';
import { NoView, propertiesOf, type SavedView, type ViewOwner, viewColumns } from './saved-view.ts';

const update = `
  update saved_view
     set name = coalesce($4, name), query = coalesce($5, query)
   where account_id = $1 and view_id = $2 and coalesce(member_id, 0) = coalesce($3, 0)
  returning ${viewColumns}`;

/** Renames a view, or gives it another filter. Throws {@link NoView}, and a `Rejection` for a name that is taken. */
export function changeView(
  change: ChangeAccount,
  { memberId }: ViewOwner,
  viewId: number,
  { name, query }: Partial<Pick<SavedView, 'name' | 'query'>>,
): Promise<SavedView> {
  return change(async ({ accountId, client, record }) => {
    const { rows } = await client
      .query<SavedView>(update, [accountId, viewId, memberId, name, query])
      .catch(nameTaken);
    const [changed] = rows;
    if (!changed) throw new NoView();
    record('saved_view_changed', `/${changed.page}`, propertiesOf(changed));
    return changed;
  });
}
