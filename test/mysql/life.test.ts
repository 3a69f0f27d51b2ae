import { afterAll, beforeAll, test } from 'vitest';
import { CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../../src/checks/catalogue.ts';
import type { Check } from '../../src/checks/check.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { liveThrough } from '../provocation.ts';
import { startTestStore, type TestStore } from '../store.ts';
import { MariadbServer, PASSWORD } from './mariadb-server.ts';
import { provocations } from './provocations.ts';

let store: TestStore;
let server: MariadbServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), MariadbServer.start()]);
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

const shipped: Partial<Check>[] = [CONN_UNREACHABLE, CONN_AUTH_FAILED, ...mysqlChecks];

test.each(provocations)(
  '$check_id ($object, $severity): found and ticket open, fixed and ticket resolved',
  async (provocation) => {
    const { check_id, thresholds = {} } = provocation;
    const check: Partial<Check> = shipped.find(({ id }) => id === check_id) ?? {};
    const given = { engine: 'mariadb', host: server.socket, port: 3306, database: '' };
    await liveThrough(provocation, {
      ...{ store, server, check },
      key: await store.watched(given, PASSWORD),
      thresholds: { ...thresholds, ...(check.comparesRuns && { minimum_seconds: 0 }) },
    });
  },
);
