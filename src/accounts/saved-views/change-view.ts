import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { nameTaken } from './add-view.ts';
import { type SavedView, toViewProperties, type ViewOwner, viewColumns } from './saved-view.ts';

const select = `
  select ${viewColumns}
    from saved_view
   where account_id = $1 and view_id = $2 and coalesce(member_id, 0) = coalesce($3, 0)`;

const update = `
  update saved_view
     set name = $4, query = $5
   where account_id = $1 and view_id = $2 and coalesce(member_id, 0) = coalesce($3, 0)
  returning ${viewColumns}`;

/** Renames a view, or gives it another filter. The log has the values of a shared one. Throws `notFound`, and a `Rejection` for a name that is taken. */
export function changeView(
  change: ChangeAccount,
  { memberId }: ViewOwner,
  viewId: number,
  changes: Partial<Pick<SavedView, 'name' | 'query'>>,
): Promise<SavedView> {
  return change(async ({ accountId, client, record }) => {
    const scope = [accountId, viewId, memberId];
    const [before] = (await client.query<SavedView>(select, scope)).rows;
    if (!before) throw notFound();
    const from = { name: before.name, query: before.query };
    const to = { ...from, ...changes };
    const changed = (['name', 'query'] as const).filter((field) => from[field] !== to[field]);
    if (changed.length === 0) return before;
    const { rows } = await client.query<SavedView>(update, [...scope, to.name, to.query]).catch(nameTaken);
    const after = one(rows, 'change a view');
    const properties = { ...toViewProperties(after), changed, ...(after.is_shared && { from, to }) };
    record('saved_view_changed', `/${after.page}`, properties);
    return after;
  });
}
