import { NotFound } from '../vocabulary/rejection.ts';
import type { ViewPage } from '../vocabulary/values/view-pages.ts';

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

/** The owner has no such view; another member's is none. */
export class NoView extends NotFound {
  constructor() {
    super('This view does not exist. It may have been removed.');
  }
}

/** Properties of a log entry. The name of a member's own view is nobody else's business. */
export function propertiesOf({ id, page, name, is_shared }: SavedView): Record<string, unknown> {
  return { view_id: id, page, is_shared, ...(is_shared && { name }) };
}
