import { awaitEntries } from '../activity/await-entries.ts';
import { connections } from '../api/endpoints/connections.ts';
import { entries } from '../api/endpoints/entries.ts';
import { fleet } from '../api/endpoints/fleet.ts';
import { latestCheck } from '../api/endpoints/latest-check.ts';
import { stats } from '../api/endpoints/stats.ts';
import { members } from '../api/endpoints/team-members.ts';
import { roles } from '../api/endpoints/team-roles.ts';
import { tickets } from '../api/endpoints/tickets.ts';
import type { Endpoint } from '../http/endpoint.ts';
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
    async handler({ actor: { accountId }, caller, id, parts, query, read, reply, withWriter }) {
      const instant = endpoint.wholeUpTo?.(query) ?? null;
      if (instant !== null) await withWriter((writer) => awaitEntries(writer, accountId, instant));
      const url = `${caller.origin}${parts.basePath}${reply.request.url}`;
      const { body, link } = await read((run) =>
        endpoint.answer(run, { accountId, query, id: String(id), url }),
      );
      if (link !== undefined) reply.header('link', link);
      return body;
    },
  });
}
