import { createConnection } from 'node:net';
import mysql from 'mysql2/promise';
import { type MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import type { Provocation } from './provocations.ts';
import { unusedPort } from './provocations-settings.ts';

/** More than the smallest cache of table definitions, 400, holds. */
const TABLES = 450;

const each = (statement: (n: number) => string) => Array.from({ length: TABLES }, (_, n) => statement(n));

/** Logs in once over TCP, from an address of this machine that has no name. */
async function logInFromUnnamedAddress(port: string): Promise<void> {
  const stream = createConnection({ host: '127.0.0.1', port: Number(port), localAddress: '127.0.0.2' });
  const session = await mysql.createConnection({ stream, user: 'faraway', password: PASSWORD });
  await session.end();
}

/** The cache of table definitions at its smallest, full, with the tables made. */
export async function fillDefinitionCache(server: MysqlServer): Promise<void> {
  await server.run(each((n) => `create table shop.d${n} (id int primary key) engine=innodb charset=utf8mb4`));
  // A table that is open keeps its definition.
  await server.run(['set global table_definition_cache = 400', 'set global table_open_cache = 100']);
  await readDefinitions(server);
}

const readDefinitions = (server: MysqlServer) => server.run(each((n) => `select id from d${n}`));

export async function emptyDefinitionCache(server: MysqlServer): Promise<void> {
  await server.run([
    'set global table_definition_cache = 4000',
    'set global table_open_cache = 2000',
    ...each((n) => `drop table d${n}`),
  ]);
}

/** Provocations of the table definition cache, names of clients, and memory. */
export const ofFigures: Provocation[] = [
  {
    check_id: 'MY_TABLE_DEFINITION_CACHE',
    severity: 'warning',
    object: null,
    thresholds: { warning_per_second: 0.5 },
    prepare: fillDefinitionCache,
    async provoke(server) {
      await readDefinitions(server);
      return async (remediation) => {
        paste(server, remediation);
        await emptyDefinitionCache(server);
      };
    },
  },
  {
    check_id: 'MY_NAME_RESOLUTION',
    severity: 'info',
    object: null,
    async provoke(server) {
      const port = await unusedPort();
      await server.restart({ 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port });
      await server.run(`create user faraway@'%' identified by '${PASSWORD}'`);
      await logInFromUnnamedAddress(port);
      return async (remediation) => {
        paste(server, remediation);
        const network = { 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port };
        await server.restart({ ...network, 'skip-name-resolve': 'ON' });
        await logInFromUnnamedAddress(port);
        await server.run("drop user faraway@'%'");
      };
    },
  },
  {
    check_id: 'MY_MEMORY_OVERCOMMIT',
    severity: 'warning',
    object: null,
    thresholds: { memory_gb: 2 },
    async provoke(server) {
      await server.run('set global sort_buffer_size = 134217728'); // 2.5 GB for 20 connections
      return async (remediation) => {
        paste(server, remediation);
        await server.run('set global sort_buffer_size = 262144');
      };
    },
  },
];
