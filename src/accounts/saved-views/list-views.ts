import type { Read } from '../../store/read.ts';
import type { ViewPage } from '../../vocabulary/view-pages.ts';
import { type SavedView, viewColumns } from './saved-view.ts';

const select = `
  select ${viewColumns}
    from saved_view
   where account_id = $1 and page = $2 and (member_id = $3 or member_id is null)
   order by member_id is null, lower(name), view_id`;

/** The views of a page that a member sees: their own, then the shared ones, each by name. */
export function listViews(
  read: Read,
  accountId: number,
  { page, memberId }: { page: ViewPage; memberId: number },
): Promise<SavedView[]> {
  return read<SavedView>(select, [accountId, page, memberId]);
}
