import { storeReports } from '../../src/connections/backups/store-reports.ts';
import { changeConnection } from '../../src/connections/change-connection.ts';
import { runHealthCheck } from '../../src/monitor/run.ts';
import { storeQueries } from '../../src/runs/queries/store-queries.ts';
import type { Scene } from './scene.ts';

interface Listed {
  data: { id: number; version: number; check_id: string }[];
}

const CHECK = {
  id: 'ORDERS_STUCK',
  title: 'Orders wait for payment',
  engine: 'postgres',
  database: 'store',
  sql: 'select waiting as value from public.shop_orders',
  unit: 'count',
  operator: '>=',
  warning: 10,
  critical: 100,
  remediation: 'Restart the payment worker.',
  every: null,
  timeout: 5,
  tags: ['shop'],
};

/** Connections, their settings, backups, own checks and texts of queries. */
export async function changeConnections(scene: Scene): Promise<void> {
  const { ada, accountId, change, store } = scene;
  const added = await ada.send<{ id: number; version: number }>('POST', '/connections', {
    name: 'shop',
    url: 'postgres://watcher@db.example.com/shop',
    password: 'unspoken-of-shop',
  });
  const { id: connectionId } = added;
  const path = `/connections/${connectionId}`;
  await ada.send('PATCH', path, { version: added.version, name: 'the shop' });
  await ada.send('POST', '/connections/tags', { connections: [connectionId], add: ['env:prod'] });
  await ada.send('POST', '/thresholds', {
    tag: 'env:prod',
    thresholds: { PG_LONG_XACT: { warning_seconds: 600 } },
  });
  await ada.send('POST', `${path}/heartbeat`);
  const backup = { label: '', startedAt: null, bytes: 41_023 };
  for (const [at, succeeded] of [
    ['2026-01-01Z', true],
    ['2026-01-02Z', false],
  ] as const)
    await change((made) => storeReports(made, connectionId, 'heartbeat', [{ ...backup, at, succeeded }]));
  await ada.send('DELETE', `${path}/heartbeat`);
  const { id } = await ada.send<{ id: number }>('POST', `${path}/silences`, {
    check_id: 'PG_VERSION_EOL',
    reason: 'accepted_risk',
    note: 'until the move',
  });
  await ada.send('DELETE', `/silences/${id}`);
  const ran = {
    query: '1',
    database: 'shop',
    role: 'app',
    calls: 1,
    seconds: 1,
    rows: 1,
    read: 1,
    hit: 1,
    temporary: 0,
  };
  const texts: [string, string][] = [['1', 'select $1']];
  await change((made) =>
    changeConnection((work) => work(made), store.deps.secret, connectionId, { queryTexts: true }),
  );
  await storeQueries(
    store.writer,
    { accountId, connectionId },
    { state: Buffer.from('state').toString('base64'), grown: [ran], texts, calls: 1, seconds: 1 },
  );
  await ada.send('POST', `${path}/queries/texts`, { queries: ['1'] });
  const direct = `update connection set host = '127.0.0.1' where account_id = $1 and connection_id = $2`;
  await store.writer.query(direct, [accountId, connectionId]);
  await runHealthCheck(store.deps, { accountId, connectionId });
  await ada.send('DELETE', path);
}

/** Runs of an own check whose value rises and falls, an alert, and what members do with the ticket and the alert. */
export async function actOnFaults(scene: Scene): Promise<void> {
  const { ada, accountId, store } = scene;
  const connectionId = await store.connection(accountId);
  await store.set({ accountId, connectionId }, {});
  await ada.send('POST', '/connections/tags', { connections: [connectionId], add: ['shop'] });
  const root = await store.superuser('store');
  await root.query('create table public.shop_orders as select 0 as waiting');
  await root.query('grant select on public.shop_orders to watcher');
  const run = async (waiting: number) => {
    await root.query('update public.shop_orders set waiting = $1', [waiting]);
    await runHealthCheck(store.deps, { accountId, connectionId });
  };
  const { sql, database, unit, operator, warning, critical, timeout } = CHECK;
  const tried = { connection_id: connectionId, sql, database, unit, operator, warning, critical, timeout };
  await ada.send('POST', '/own-checks/try', tried);
  const { changed_at: seen } = await ada.send<{ changed_at: string }>('POST', '/own-checks', CHECK);
  const rule = await addRule(scene);
  await run(20);
  await run(200);
  await changeTicket(scene);
  await changeAlert(scene);
  await run(20);
  await run(0);
  await run(20);
  await ada.send('PATCH', `/alert-rules/${rule}`, { threshold: 1_000 });
  await run(20);
  await ada.send('DELETE', `/alert-rules/${rule}`);
  const { id, ...definition } = CHECK;
  await ada.send('PATCH', `/own-checks/${id}`, { ...definition, warning: 15, seen });
  await ada.send('DELETE', `/own-checks/${id}`);
}

async function addRule({ ada }: Scene): Promise<number> {
  const { id } = await ada.send<{ id: number }>('POST', '/alert-rules', {
    name: 'Orders',
    metric: 'measure',
    check_id: 'OWN_ORDERS_STUCK',
    measure: 'orders_stuck_count',
    operator: '>=',
    threshold: 1,
    clear_threshold: null,
    for_seconds: 0,
    for_runs: 1,
    severity: 'warning',
    connections: { ids: null, names: null },
    destination_ids: null,
    reminder_seconds: null,
    is_enabled: true,
  });
  return id;
}

async function changeTicket({ ada }: Scene): Promise<void> {
  const { data } = await ada.send<Listed>('GET', '/tickets?list=all');
  const ticket = data.find(({ check_id }) => check_id === 'OWN_ORDERS_STUCK');
  if (!ticket) throw new Error('The own check opened no ticket.');
  const { id } = ticket;
  const people = await ada.send<{ data: { id: number }[] }>('GET', '/tickets/people');
  const triage = async (change: object) => {
    const { version } = await ada.send<{ version: number }>('GET', `/tickets/${id}`);
    await ada.send('POST', '/tickets/triage', { tickets: [{ id, version }], ...change });
  };
  await triage({ assignee_id: people.data[0]?.id });
  await triage({ acknowledged: true, until: '4h' });
  await triage({ acknowledged: false });
  const comment = await ada.send<{ id: number }>('POST', `/tickets/${id}/comments`, { body: 'Look, @Ada' });
  await ada.send('DELETE', `/ticket-comments/${comment.id}`);
}

async function changeAlert({ ada }: Scene): Promise<void> {
  const { items } = await ada.send<{ items: { id: number; rule_name: string }[] }>('GET', '/alerts');
  const id = items.find(({ rule_name }) => rule_name === 'Orders')?.id;
  await ada.send('POST', `/alerts/${id}/acknowledge`, { until: null, note: 'I am on it.' });
  await ada.send('POST', `/alerts/${id}/unacknowledge`);
}
