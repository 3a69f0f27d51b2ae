import type { ViewPage } from '../../vocabulary/view-pages.ts';

/** A named filter of a page. */
export interface SavedView {
  id: number;
  page: ViewPage;
  name: string;
  /** The query of the page's address, without `?`. */
  query: string;
  is_shared: boolean;
  /** The name of the member who saved it. */
  created_by: string;
}

/** Whose views: a member's own, or those that the account shares. */
export interface ViewOwner {
  /** Null = shared. */
  memberId: number | null;
}

export const viewColumns = 'view_id as id, page, name, query, member_id is null as is_shared, created_by';

/** Properties of a log entry. The name of a member's own view is nobody else's business. */
export function toViewProperties({ id, page, name, is_shared }: SavedView) {
  return { view_id: id, page, is_shared, ...(is_shared && { name }) };
}
