import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../../src/checks/catalogue.ts';
import type { Check, Thresholds } from '../../src/checks/check.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { sealCredential } from '../../src/monitor/credentials.ts';
import { type ConnectionKey, runHealthCheck } from '../../src/monitor/run.ts';
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

async function watched(): Promise<ConnectionKey> {
  const accountId = await store.account();
  const given = { engine: 'mariadb', host: server.socket, port: 3306, database: '' };
  const key = { accountId, connectionId: await store.connection(accountId, given) };
  const sealed = await sealCredential(store.writer, store.deps.secret, key, PASSWORD);
  const text = 'update connection set credential = $2 where account_id = $1';
  await store.writer.query(text, [accountId, sealed]);
  return key;
}

async function tickets({ accountId }: ConnectionKey) {
  const { rows } = await store.writer.query<{ check_id: string; remediation: string }>(
    `select check_id, object, severity, status, remediation from ticket where account_id = $1 order by ticket_id`,
    [accountId],
  );
  return rows;
}

test.each(provocations)(
  '$check_id ($object, $severity): found and ticket open, mended and ticket resolved',
  async ({ check_id, severity, object, thresholds = {}, prepare, provoke }) => {
    const key = await watched();
    const { volatile, counts }: Partial<Check> = shipped.find(({ id }) => id === check_id) ?? {};
    const atOnce = { ...thresholds, ...(counts && { minimum_seconds: 0 }) };
    const own: Record<string, Thresholds> = { [check_id]: atOnce };
    const run = () => runHealthCheck({ ...store.deps, thresholds: own }, key);

    await prepare?.(server);
    const first = await run();
    expect(first?.score, JSON.stringify(first?.checks.slice(0, 3))).toBe(100);
    const mend = await provoke(server);
    const stored = await run();
    expect(stored?.checks[0]).toMatchObject({ check_id, severity, status: severity });
    expect(stored?.score).toBeLessThan(100);
    if (volatile) {
      expect(await tickets(key)).toEqual([]);
      await run();
    }
    const opened = await tickets(key);
    expect(opened).toMatchObject([{ check_id, object, severity, status: 'open' }]);

    await mend(opened[0]?.remediation ?? '');
    if (volatile) {
      await run();
      expect(await tickets(key)).toMatchObject([{ status: 'open' }]);
    }
    expect((await run())?.score).toBe(100);
    expect(await tickets(key)).toMatchObject([{ check_id, object, status: 'resolved' }]);
  },
);
