import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { listFacts } from '../../runs/changes/list-facts.ts';
import { requireConnection } from '../connections/require-connection.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** Untrusted text of the monitored server: render it as text. */
export const ConnectionFacts = Type.Object({
  data: Type.Array(
    Type.Object({
      kind: stringEnum('setting', 'version', 'extension'),
      /** '' = the whole server. */
      database: Type.String(),
      subject: Type.String(),
      /** `hidden (3f9a1c0d)` stands for what may be secret. */
      value: Type.String(),
      source: nullable(Type.String()),
    }),
  ),
});

export type ConnectionFacts = Static<typeof ConnectionFacts>;

const list = consoleRoute({
  method: 'GET',
  path: '/connections/:id/facts',
  permission: 'health:read',
  response: ConnectionFacts,
  async handler({ actor: { accountId }, id, read }) {
    return read(async (run) => {
      await requireConnection(run, accountId, id);
      return { data: await listFacts(run, accountId, id) };
    });
  },
});

/** What runs read of a server, besides measures. */
export const factRoutes: ConsoleRoute[] = [list];
