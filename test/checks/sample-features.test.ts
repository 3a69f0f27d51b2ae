import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount } from '../../src/accounts/add-account.ts';
import { changeAccount } from '../../src/activity/record-entry.ts';
import { everyCheck } from '../../src/checks/catalogue.ts';
import { pgbouncerChecks } from '../../src/checks/pgbouncer/pgbouncer-checks.ts';
import { score, summaryText } from '../../src/checks/score.ts';
import { engineVitals } from '../../src/checks/vitals/engine-vitals.ts';
import type { Catalogue } from '../../src/cli/command.ts';
import { writeSampleData } from '../../src/cli/sample-data/sample-data.ts';
import { listOwnChecks } from '../../src/connections/own-checks/list-own-checks.ts';
import { setOwnCheck } from '../../src/connections/own-checks/set-own-check.ts';
import { removeSampleConnections } from '../../src/connections/samples/remove-sample-connections.ts';
import { listDestinations } from '../../src/notifications/destinations/destination-row.ts';
import { openDestination } from '../../src/notifications/destinations/open-destination.ts';
import { listMeasures } from '../../src/runs/measures/list-measures.ts';
import { openPool } from '../../src/store/connect.ts';
import { within } from '../../src/store/read.ts';
import { startTestStore, type TestStore } from '../support/store.ts';

const catalogue: Catalogue = { checks: everyCheck, score: (all) => score(all, []), summaryText };
const SIZE = { connections: 12, tickets: 80, activity: 100, days: 10, seed: 3 };

let store: TestStore;
let owner: pg.Pool;
let account: number;
beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 1 });
  account = await fillNew();
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

async function fillNew(): Promise<number> {
  const plan = { name: 'Sample', kind: 'company', plan: 'enterprise', requests_per_minute: null } as const;
  const { id } = await addAccount(store.writer, plan);
  await writeSampleData(store.writer, owner, catalogue, {
    ...SIZE,
    accountId: id,
    secret: store.deps.secret,
  });
  return id;
}

const rowsOf = async (sql: string, accountId = account) =>
  (await store.writer.query<Record<string, unknown>>(sql, [accountId])).rows;

test('the first connection has an own check with one open ticket, and its values rose to it', async () => {
  const [own, ...others] = await listOwnChecks(within(store.writer), account);
  expect(others).toEqual([]);
  expect(own).toMatchObject({ id: 'ORDERS_STUCK', tags: ['shop'], warning: 10, critical: 100 });
  const [ticket, ...more] = await rowsOf(
    `select t.connection_id, t.severity, t.status, t.metric_line, t.remediation,
            (select jsonb_agg(f) from jsonb_array_elements(h.findings) f where f ->> 'check_id' = t.check_id) as findings
       from ticket t
       join connection c using (account_id, connection_id)
       join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
      where t.account_id = $1 and t.check_id = 'OWN_ORDERS_STUCK'`,
  );
  expect(more).toEqual([]);
  expect(ticket).toMatchObject({
    severity: 'warning',
    status: 'open',
    remediation: own?.remediation,
    findings: [{ status: 'warning', metric_line: ticket?.['metric_line'], category: 'own' }],
  });
  const connectionId = Number(ticket?.['connection_id']);
  const measures = (await listMeasures(within(store.writer), account, connectionId))?.measures ?? [];
  const series = measures.filter(({ check_id }) => check_id === 'OWN_ORDERS_STUCK');
  expect(series).toMatchObject([{ metric: 'orders_stuck_count', warning: 10, critical: 100 }]);
  expect(ticket?.['metric_line']).toBe(`${series[0]?.value} (warning from 10, critical from 100).`);
  const [hours] = await rowsOf(
    `select min(value) < 5 as usual, max(value) >= 10 as late, count(distinct day) > 8 as whole
       from measure_series s
       join measure_hour h using (account_id, connection_id, series_id),
            unnest(h.last) as value
      where account_id = $1 and s.check_id = 'OWN_ORDERS_STUCK'`,
  );
  expect(hours).toEqual({ usual: true, late: true, whole: true });
});

test('the tenth connection is a PgBouncer with its vitals, and with findings of its own checks', async () => {
  const [pooler, ...others] = await rowsOf(
    `select c.connection_id as id, c.name, c.port, c.database, v.version, h.findings, h.score
       from connection c
       join connection_version v using (account_id, connection_id)
       join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
      where c.account_id = $1 and c.engine = 'pgbouncer'`,
  );
  expect(others).toEqual([]);
  expect(pooler).toMatchObject({ name: 'inventory pooler', port: 6_432, database: 'pgbouncer' });
  const ids = ((pooler?.['findings'] ?? []) as { check_id: string }[]).map(({ check_id }) => check_id);
  const own = pgbouncerChecks.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(own));
  expect(ids.filter((id) => !own.includes(id) && !id.startsWith('CONN_'))).toEqual([]);
  const tickets = await rowsOf(
    `select check_id, object, status from ticket where account_id = $1 and connection_id = ${pooler?.['id']}`,
  );
  expect(tickets).toContainEqual({
    check_id: 'PB_POOLS_EXCEED_SERVER',
    object: 'orders primary',
    status: 'open',
  });
  for (const { check_id } of tickets) expect(own).toContain(check_id);
  const measures = await listMeasures(within(store.writer), account, Number(pooler?.['id']));
  const metrics = (measures?.measures ?? []).map(({ metric }) => metric);
  for (const { metric } of engineVitals.pgbouncer.vitals) expect(metrics, metric).toContain(metric);
  for (const table of ['query_hour', 'session_load', 'blocking_episode', 'backup_report'])
    expect(
      await rowsOf(`select from ${table} where account_id = $1 and connection_id = ${pooler?.['id']}`),
    ).toEqual([]);
});

test('a destination shows a weekly digest, and nothing is ever sent to it', async () => {
  const [destination, ...others] = await listDestinations(within(store.writer), account);
  expect(others).toEqual([]);
  expect(destination).toMatchObject({
    state: 'enabled',
    channel: 'mattermost',
    target: 'https://chat.example.com',
    kinds: [],
    digest: { every: 'mon', at: '07:00', time_zone: 'UTC' },
    next_digest_at: null,
  });
  const open = await openDestination(store.writer, store.deps.secret, account, destination?.id ?? 0);
  expect(open?.secrets.url).toBe('https://chat.example.com/hooks/sample');
});

test('filling an account twice adds neither twice, and another fleet has the same', async () => {
  const id = await fillNew();
  const again = { ...SIZE, accountId: id, secret: store.deps.secret };
  await writeSampleData(store.writer, owner, catalogue, again);
  expect(await listOwnChecks(within(store.writer), id)).toHaveLength(1);
  expect(await listDestinations(within(store.writer), id)).toHaveLength(1);
  expect(await rowsOf(`select from connection_tags where account_id = $1`, id)).toHaveLength(2);
});

test('both go with the last sample connection, unless a member changed them', async () => {
  const change = <T>(id: number, work: Parameters<typeof changeAccount<T>>[2]) =>
    changeAccount(store.writer, id, work);
  const removeAll = (id: number) => removeSampleConnections((work) => change(id, work));
  const unchanged = await fillNew();
  expect(await removeAll(unchanged)).toBe(0);
  expect(await listOwnChecks(within(store.writer), unchanged)).toEqual([]);
  expect(await listDestinations(within(store.writer), unchanged)).toEqual([]);

  const changed = await fillNew();
  const [own] = await listOwnChecks(within(store.writer), changed);
  if (!own) throw new Error('The sample has no own check.');
  await change(changed, (made) => setOwnCheck({ ...made, author: 'Ada' }, { ...own, warning: 20 }));
  await store.writer.query('update destination_queue set digest_due_at = now() where account_id = $1', [
    changed,
  ]);
  await removeAll(changed);
  expect(await listOwnChecks(within(store.writer), changed)).toHaveLength(1);
  expect(await listDestinations(within(store.writer), changed)).toHaveLength(1);
});
