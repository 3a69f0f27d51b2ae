import type { SampleFault } from '../faults/sample-faults.ts';

export const MOST_CLIENTS = 1_000;
export const POOL_SIZE = 20;
/** How many clients of a fault wait: 3 to 22. */
export const waiting = (n: number) => 3 + (n % 20);
const clientsUsed = (n: number) => 810 + (n % 130);

/** The faults of a PgBouncer, as its checks word them. `{table}` names a database that it pools. */
export const POOLER_FAULTS: readonly SampleFault[] = [
  {
    checkId: 'PB_CLIENTS_WAITING',
    severities: ['warning', 'warning', 'critical'],
    database: '',
    object: '{table}/app',
    line: '{waiting} clients wait in pool {table}/app for a server connection, the first for {seconds} s; end what holds its connections, or raise its size.',
    numbers: (n, severity) => ({ waiting: waiting(n), seconds: secondsWaited(n, severity === 'critical') }),
    remediation:
      'SHOW SERVERS; -- which sessions hold the connections of the pool and since when; if all are needed, raise pool_size of the database in pgbouncer.ini, then run RELOAD;',
    measured: {
      metric: 'longest_client_wait_seconds',
      warning: 5,
      critical: 30,
      value: (n, severity) => secondsWaited(n, severity === 'critical'),
    },
  },
  {
    checkId: 'PB_POOL_SATURATION',
    severities: ['warning'],
    database: '',
    object: '{table}/app',
    line: `Pool {table}/app has ${POOL_SIZE} of the ${POOL_SIZE} server connections that it may have (100 %), and {waiting} clients wait; shorten transactions, or raise its size.`,
    numbers: (n) => ({ waiting: waiting(n) }),
    remediation:
      'SHOW SERVERS; -- which sessions hold them; if the server behind has room, raise pool_size of the database in pgbouncer.ini, then run RELOAD;',
    measured: { metric: 'pool_used_ratio', warning: 1, critical: null, limit: 1, value: () => 1 },
  },
  {
    checkId: 'PB_CLIENT_LIMIT',
    severities: ['warning'],
    database: '',
    object: null,
    line: `{used} of 1,000 client connections are in use ({percent} %); let applications keep fewer, or raise max_client_conn.`,
    numbers: (n) => ({ used: clientsUsed(n), percent: Math.floor(clientsUsed(n) / 10) }),
    remediation:
      'SHOW CLIENTS; -- who keeps them; if all are needed and the limit of open files allows it (LimitNOFILE), raise max_client_conn in pgbouncer.ini, then run RELOAD;',
    measured: {
      metric: 'connections_used_ratio',
      warning: 0.8,
      critical: 0.95,
      limit: 1,
      value: (n) => clientsUsed(n) / MOST_CLIENTS,
    },
  },
];

/** Its pools are larger than the first database of the fleet allows. */
export const LARGE_POOLS: SampleFault = {
  checkId: 'PB_POOLS_EXCEED_SERVER',
  severities: ['warning'],
  database: '',
  object: 'orders primary',
  line: 'The pools to orders primary may open 120 connections, but it allows 97 (123 %): under load, logins fail; lower pool sizes, or set max_db_connections.',
  remediation:
    'SHOW DATABASES; -- each pool has pool_size connections for each user; lower default_pool_size or set max_db_connections in pgbouncer.ini, then run RELOAD;',
  measured: { metric: 'possible_connections_ratio', warning: 1, critical: null, value: () => 120 / 97 },
  isHarmless: true,
};

function secondsWaited(n: number, isCritical: boolean): number {
  return isCritical ? 31 + (n % 25) : 6 + (n % 20);
}
