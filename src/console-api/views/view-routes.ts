import { addView } from '../../accounts/saved-views/add-view.ts';
import { changeView } from '../../accounts/saved-views/change-view.ts';
import { listViews } from '../../accounts/saved-views/list-views.ts';
import { removeView } from '../../accounts/saved-views/remove-view.ts';
import { identifier } from '../../platform/schema/fields.ts';
import { Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import type { Permission } from '../../vocabulary/role-permissions.ts';
import { VIEW_PAGES } from '../../vocabulary/view-pages.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine } from '../single-line.ts';

const Page = stringEnum(...VIEW_PAGES);
const Name = singleLine(60, 'Enter a name of 1 to 60 characters.');
// What a browser's URLSearchParams and encodeURIComponent write. An address is no longer than 16 KiB, as HTTP servers take it.
const Query = Type.String({
  maxLength: 16_000,
  pattern: "^[A-Za-z0-9._~!$'()*+,;:@/?%=&-]*$",
  description: "query must be the query of the page's address, at most 16000 characters.",
});

const View = Type.Object({
  id: identifier('view identifier'),
  page: Page,
  name: Type.String(),
  query: Type.String(),
  is_shared: Type.Boolean(),
  created_by: Type.String(),
});

const ViewList = Type.Object({ data: Type.Array(View) });
const NewView = Type.Object({ page: Page, name: Name, query: Query });
const ViewChanges = Type.Object({ name: Type.Optional(Name), query: Type.Optional(Query) });

const list = consoleRoute({
  method: 'GET',
  path: '/views',
  permission: 'health:read',
  query: Type.Object({ page: Page }),
  response: ViewList,
  async handler({ actor: { accountId, memberId }, query: { page }, read }) {
    return { data: await read((run) => listViews(run, accountId, { page, memberId })) };
  },
});

/** The routes that change views: a member's own, or the shared ones, which are everybody's. */
function changing(path: string, permission: Permission, isShared: boolean): ConsoleRoute[] {
  const ownerOf = ({ memberId }: { memberId: number }) => ({ memberId: isShared ? null : memberId });
  return [
    consoleRoute({
      method: 'POST',
      path,
      permission,
      body: NewView,
      response: View,
      status: 201,
      handler: ({ actor, body, change }) =>
        addView(change, ownerOf(actor), { ...body, name: body.name.trim() }),
    }),
    consoleRoute({
      method: 'PATCH',
      path: `${path}/:id`,
      permission,
      body: ViewChanges,
      response: View,
      handler: ({ actor, body: { name, query }, change, id }) =>
        changeView(change, ownerOf(actor), id, {
          ...(name !== undefined && { name: name.trim() }),
          ...(query !== undefined && { query }),
        }),
    }),
    consoleRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      permission,
      response: null,
      handler: ({ actor, change, id }) => removeView(change, ownerOf(actor), id),
    }),
  ];
}

/** The routes of saved views. */
export const viewRoutes: ConsoleRoute[] = [
  list,
  ...changing('/views', 'health:read', false),
  ...changing('/shared-views', 'connections:write', true),
];
