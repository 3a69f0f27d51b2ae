import { join } from 'node:path';
import type { PatroniNode } from './patroni-cluster.ts';

/** The settings of docs/scaling.md, in seconds. */
const TIMES = { ttl: 20, loop_wait: 5, retry_timeout: 5 };

/** The `patroni.yml` of a node. */
export function patroniSettings(
  { name, port, restPort, folder }: PatroniNode,
  {
    client,
    api,
    password,
    postgres,
  }: { client: number; api: 'v2' | 'v3'; password: string; postgres: string },
) {
  const login = (username: string) => ({ username, password });
  return {
    scope: 'dbvitals',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    [api === 'v2' ? 'etcd' : 'etcd3']: { host: `127.0.0.1:${client}` },
    bootstrap: {
      dcs: {
        ...TIMES,
        synchronous_mode: true,
        // A rewind fails if its source is lost meanwhile. Without this, the node then waits for a person.
        postgresql: { use_pg_rewind: true, remove_data_directory_on_rewind_failure: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: postgres,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: login('postgres'),
        replication: login('replicator'),
        rewind: login('rewinder'),
      },
      pg_hba: [
        'host all all 127.0.0.1/32 scram-sha-256',
        'host replication replicator 127.0.0.1/32 scram-sha-256',
      ],
      parameters: { unix_socket_directories: '', password_encryption: 'scram-sha-256' },
    },
    watchdog: { mode: 'off' },
  };
}
