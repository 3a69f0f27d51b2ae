import { ConnectRefused } from '../connect-refused.ts';
import { openClient } from '../postgres/open-client.ts';
import { type Deadline, metered, type OpenedSession, type Route, type Target } from '../session.ts';

/**
 * Connects to PgBouncer's admin console. It speaks only the simple protocol, one command at a time, and knows no transactions:
 * a login of `stats_users` can't run a command that changes something. Throws like `openPostgresSession`.
 */
export async function openPgbouncerSession(
  target: Target,
  database: string,
  route: Route,
  deadline: Deadline,
): Promise<OpenedSession> {
  const opened = await openClient(target, database, route, deadline);
  const { client, tls, isConsole, isLost, answerTo, close } = opened;
  if (!isConsole) {
    await close();
    throw notConsole();
  }
  const { meter } = route;
  return {
    tls,
    isLost,
    async read(command) {
      const { rows } = await metered(meter, () => answerTo(() => client.query(command)));
      return rows;
    },
    async readOwn() {
      throw new Error('the admin console of PgBouncer runs no SELECT');
    },
    close,
  };
}

/** The server is another one, or a database behind PgBouncer. */
export function notConsole(): ConnectRefused {
  return new ConnectRefused(
    'it is not the admin console of PgBouncer 1.12 or later',
    'Name the host and port of PgBouncer and the database pgbouncer, or add the server with a URL that begins with postgres://.',
  );
}
