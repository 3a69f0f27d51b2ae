import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure } from './measure.ts';
import { MysqlServer, PASSWORD, type Settings } from './mysql-server.ts';
import { unusedPort } from './provocations-settings.ts';
import { replication } from './replication-sql.ts';
import { dialect } from './tested-server.ts';

const GROUP_PRIVILEGES = ', connection_admin, backup_admin, group_replication_stream';

/** The servers that this file's test started. */
const servers: MysqlServer[] = [];
const ports = new Map<MysqlServer, string>();

export async function stopAll(): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()));
}

export function portOf(server: MysqlServer): string {
  return ports.get(server) ?? '';
}

/** A server that others can copy from with the login `copier`. */
export async function started(id: number, settings: Record<string, string> = {}): Promise<MysqlServer> {
  const port = await unusedPort();
  const server = await MysqlServer.start({
    'skip-networking': 'OFF',
    'bind-address': '127.0.0.1',
    port,
    'report-host': '127.0.0.1',
    'server-id': String(id),
    ...dialect<Settings>({
      mysql: { 'gtid-mode': 'ON', 'enforce-gtid-consistency': 'ON' },
      mariadb: { 'gtid-domain-id': String(id) },
    }),
    ...settings,
  });
  servers.push(server);
  ports.set(server, port);
  await server.run([
    `create user copier@'127.0.0.1' identified by '${PASSWORD}'`,
    `grant replication slave${dialect({ mysql: GROUP_PRIVILEGES, mariadb: '' })} on *.* to copier@'127.0.0.1'`,
    replication.reset, // each server has made its logins itself
  ]);
  return server;
}

/** Measures a check until its judgement is as awaited, for a minute at most. */
export async function until(
  server: MysqlServer,
  check: Check,
  is: (judgement: SeenJudgement) => boolean,
  thresholds = {},
): Promise<SeenJudgement> {
  let judgement = await measure(server, check, { thresholds });
  for (let tries = 0; tries < 600 && !is(judgement); tries++) {
    await wait(100);
    judgement = await measure(server, check, { thresholds });
  }
  expect(is(judgement), JSON.stringify(judgement)).toBe(true);
  return judgement;
}
export const isFaulty = ({ faults }: SeenJudgement) => faults.length > 0;
export const isWell = ({ faults, skipped }: SeenJudgement) => faults.length === 0 && skipped === undefined;
