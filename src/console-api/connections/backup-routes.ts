import { renewHeartbeat, revokeHeartbeat } from '../../connections/backups/backup-heartbeat.ts';
import { BACKUP_SOURCES } from '../../connections/backups/backup-sources.ts';
import { listReports, readHeartbeat } from '../../connections/backups/list-reports.ts';
import { timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { requireConnection } from './require-connection.ts';

/** The most reports in a list. */
const LISTED = 30;

/** GET /connections/:id/backups */
const BackupList = Type.Object({
  /** Null = the connection has no heartbeat URL. */
  heartbeat: nullable(
    Type.Object({
      created_at: timestamp('when its URL was created'),
      called_at: nullable(timestamp('the last call; null = none')),
    }),
  ),
  /** The newest first. */
  reports: Type.Array(
    Type.Object({
      at: timestamp('when it ended'),
      source: stringEnum(...BACKUP_SOURCES),
      label: Type.String(),
      succeeded: Type.Boolean(),
      started_at: nullable(timestamp('null = unknown')),
      bytes: nullable(Type.Integer()),
    }),
  ),
});

export type BackupList = Static<typeof BackupList>;

const list = consoleRoute({
  method: 'GET',
  path: '/connections/:id/backups',
  permission: 'health:read',
  response: BackupList,
  async handler({ actor: { accountId }, id, read }) {
    return read(async (run) => {
      await requireConnection(run, accountId, id);
      const heartbeat = await readHeartbeat(run, accountId, id);
      const reports = await listReports(run, accountId, id, LISTED);
      return {
        heartbeat: heartbeat && {
          created_at: heartbeat.created_at.toISOString(),
          called_at: heartbeat.called_at?.toISOString() ?? null,
        },
        reports: reports.map(({ at, started_at, ...report }) => ({
          ...report,
          at: at.toISOString(),
          started_at: started_at?.toISOString() ?? null,
        })),
      };
    });
  },
});

/** Its token is shown here and never again. */
const Heartbeat = Type.Object({ token: Type.String() });

export type Heartbeat = Static<typeof Heartbeat>;

const renew = consoleRoute({
  method: 'POST',
  path: '/connections/:id/heartbeat',
  permission: 'connections:write',
  recent: true,
  response: Heartbeat,
  status: 201,
  async handler({ change, id }) {
    return { token: await renewHeartbeat(change, id) };
  },
});

const revoke = consoleRoute({
  method: 'DELETE',
  path: '/connections/:id/heartbeat',
  permission: 'connections:write',
  response: null,
  async handler({ change, id }) {
    await revokeHeartbeat(change, id);
  },
});

/** The routes of a connection's backups. */
export const backupRoutes: ConsoleRoute[] = [list, renew, revoke];
