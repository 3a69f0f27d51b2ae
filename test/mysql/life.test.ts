import { afterAll, beforeAll, test } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import { CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../../src/checks/connection-findings.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { liveThrough } from '../provocation.ts';
import { startTestStore, type TestStore } from '../store.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { provocations } from './provocations.ts';
import { ENGINE } from './tested-server.ts';

let store: TestStore;
let server: MysqlServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), MysqlServer.start()]);
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

const shipped: Partial<Check>[] = [CONN_UNREACHABLE, CONN_AUTH_FAILED, ...mysqlChecks];

/** What they find within seconds depends on the speed of the machine. */
const others = Object.fromEntries(
  mysqlChecks.filter(({ comparesRuns }) => comparesRuns).map(({ id }) => [id, { minimum_seconds: 3_600 }]),
);

test.each(provocations)(
  '$check_id ($object, $severity): found and ticket open, fixed and ticket resolved',
  async (provocation) => {
    const { check_id, thresholds = {} } = provocation;
    const check: Partial<Check> = shipped.find(({ id }) => id === check_id) ?? {};
    const given = { engine: ENGINE, host: server.socket, port: 3306, database: '' };
    await liveThrough(provocation, {
      ...{ store, server, check },
      key: await store.watched(given, PASSWORD),
      others,
      thresholds: { ...thresholds, ...(check.comparesRuns && { minimum_seconds: 0 }) },
    });
  },
);
