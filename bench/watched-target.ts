import type { Target } from '../src/monitor/session/session.ts';
import { PASSWORD, type PostgresServer } from '../test/checks/postgres-server.ts';

/** How a benchmark logs in to a server of its own. */
export const watcher: Omit<Target, 'engine' | 'host' | 'port' | 'database'> = {
  connectionType: 'unix_socket',
  username: 'watcher',
  password: PASSWORD,
  passwordExposable: false,
  tls: 'disable',
  caCertificate: null,
  tunnel: null,
};

/** The target for a PostgreSQL of the benchmark. */
export function postgresTarget({ host, port, database }: PostgresServer): Target {
  return { ...watcher, engine: 'postgres', host, port, database };
}
