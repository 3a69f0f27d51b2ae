import pg from 'pg';
import type { ChangeAccount } from '../../activity/record-entry.ts';
import { Rejection } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { type SavedView, toViewProperties, type ViewOwner, viewColumns } from './saved-view.ts';

/** The most views of a page that a member, or an account, keeps. */
const MOST_VIEWS = 50;

/** A view to save. */
export type NewView = Pick<SavedView, 'page' | 'name' | 'query'>;

const countViews = `
  select count(*)::integer as views
    from saved_view
   where account_id = $1 and page = $2 and coalesce(member_id, 0) = coalesce($3, 0)`;

const insert = `
  insert into saved_view (account_id, page, member_id, name, query, created_by, created_at)
  values ($1, $2, $3, $4, $5, $6, $7)
  returning ${viewColumns}`;

/** Saves a view. Throws a {@link Rejection} if the owner has one of this name for the page, or too many. */
export function addView(
  change: ChangeAccount,
  { memberId }: ViewOwner,
  { page, name, query }: NewView,
): Promise<SavedView> {
  return change(async ({ accountId, client, at, author, record }) => {
    const scope = [accountId, page, memberId];
    const { views } = one((await client.query(countViews, scope)).rows, 'count the views');
    if (views >= MOST_VIEWS)
      throw new Rejection('conflict', `A page has at most ${MOST_VIEWS} views. Remove one first.`);
    const { rows } = await client
      .query<SavedView>(insert, [...scope, name, query, author, at])
      .catch(nameTaken);
    const added = one(rows, 'save a view');
    record('saved_view_added', `/${page}`, toViewProperties(added));
    return added;
  });
}

/** Throws a {@link Rejection} instead of the store's error for a name that is taken. */
export function nameTaken(error: unknown): never {
  if (!(error instanceof pg.DatabaseError) || error.constraint !== 'saved_view_name') throw error;
  throw new Rejection('conflict', 'A view with this name already exists. Choose another name.', {
    parameter: 'name',
  });
}
