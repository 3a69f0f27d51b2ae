import { awaitEntries } from '../activity/await-entries.ts';
import { entries } from '../activity/entries.ts';
import { connections } from '../health/connections.ts';
import { fleet } from '../health/fleet.ts';
import { latestCheck } from '../health/latest-check.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { stats } from '../ops/stats.ts';
import { tickets } from '../ops/tickets.ts';
import { members } from '../team/members.ts';
import { roles } from '../team/roles.ts';
import type { Permission } from '../vocabulary/role-permissions.ts';
import { type ConsoleRoute, consoleRoute } from './route.ts';

/**
 * The API's eight endpoints for a signed-in member: the same parameters and bodies. The member's roles decide about
 * access, not the plan. Requests are neither rate-limited nor logged.
 */
export const apiMirrorRoutes: ConsoleRoute[] = [
  apiMirrorRoute('health:read', connections),
  apiMirrorRoute('health:read', latestCheck),
  apiMirrorRoute('health:read', fleet),
  apiMirrorRoute('tickets:read', tickets),
  apiMirrorRoute('tickets:read', stats),
  apiMirrorRoute('activity:read', entries),
  apiMirrorRoute('members:read', members),
  apiMirrorRoute('member', roles), // roles are public
];

function apiMirrorRoute(permission: Permission | 'member', endpoint: Endpoint): ConsoleRoute {
  return consoleRoute({
    method: 'GET',
    path: `/read${endpoint.path}`,
    permission,
    query: endpoint.query,
    response: endpoint.response,
    async handler({ actor: { accountId }, caller, id, parts, query, read, reply, store }) {
      const instant = endpoint.wholeUpTo?.(query) ?? null;
      if (instant !== null) await awaitEntries(store.writer, accountId, instant);
      const url = `${caller.origin}${parts.basePath}${reply.request.url}`;
      const { body, link } = await read((run) =>
        endpoint.answer(run, { accountId, query, id: String(id), url }),
      );
      if (link !== undefined) reply.header('link', link);
      return body;
    },
  });
}
