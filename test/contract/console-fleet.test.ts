import { expect, inject, test } from 'vitest';
import { fillAccount, makeAccount, makeKeylessAccount } from './account.ts';
import { read } from './ask.ts';
import { signInAs } from './browser.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, type HealthCheck, integer, time } from './records.ts';

interface Row {
  id: number;
  name: string;
  host: string;
  score: number | null;
  status: 'healthy' | 'warning' | 'critical' | 'never_run';
  trend: (number | null)[];
  worst: { check_id: string; title: string; severity: string } | null;
  last_checked_at: string | null;
  next_due_at: string | null;
  interval_seconds: number | null;
  stale: boolean;
}

interface Fleet {
  data: Row[];
  summary: Record<'total' | 'healthy' | 'warning' | 'critical' | 'never_run' | 'stale', number>;
  trend_to: string;
}

const URGENCY = { critical: 0, warning: 1, never_run: 3, healthy: 4 };

function urgencyOf({ status, stale }: Row): number {
  return stale && status === 'healthy' ? 2 : URGENCY[status];
}

test("the fleet has the API's data with trend and worst finding, worst first", async () => {
  const { id, key } = await makeAccount();
  await fillAccount(id, { connections: 25, tickets: 60, activity: 2_000, days: 40 });
  const viewer = await signInAs(id, ['viewer']);
  const fleet = await viewer.get<Fleet>('/fleet');
  const told = await read<{ data: { id: number; score: number; status: string; name: string }[] }>(
    '/api/v1/health/fleet',
    key,
  );
  const byId = fleet.data.toSorted((a, b) => a.id - b.id);
  expect(byId.map(({ id, name, score, status }) => ({ id, name, score, status }))).toEqual(told.data);
  expect(fleet.data.map(urgencyOf)).toEqual(fleet.data.map(urgencyOf).toSorted((a, b) => a - b));
  const counts = Object.groupBy(told.data, ({ status }) => status);
  expect(fleet.summary).toMatchObject({ total: 25, warning: counts['warning']?.length ?? 0, stale: integer });
  expect(fleet.trend_to).toMatch(/^\d{4}-\d\d-\d\d$/);

  for (const row of fleet.data) {
    expect(row.trend).toHaveLength(30);
    expect(row).toMatchObject({ last_checked_at: time, next_due_at: null, interval_seconds: null });
    expect(row.trend.findLast((score) => score !== null)).toBe(row.score);
  }
  expect(
    fleet.data.filter(({ trend }) => trend.filter((score) => score !== null).length > 20).length,
  ).toBeGreaterThan(20);
  for (const row of fleet.data.slice(0, 5)) {
    const { data } = await read<{ data: HealthCheck }>(
      `/api/v1/health/connections/${row.id}/checks/latest`,
      key,
    );
    const [first] = data.checks;
    const faulty = first?.status === first?.severity;
    expect(row.worst).toEqual(
      faulty ? { check_id: first?.check_id, title: first?.title, severity: first?.severity } : null,
    );
    expect(row.last_checked_at).toBe(data.created_at);
  }
});

test('filters select rows, and the counts stay those of the search', async () => {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 30, tickets: 80, activity: 500, days: 3 });
  const viewer = await signInAs(id, ['viewer']);
  const all = await viewer.get<Fleet>('/fleet');
  for (const status of ['healthy', 'warning', 'critical', 'never_run', 'stale'] as const) {
    const chosen = await viewer.get<Fleet>(`/fleet?status=${status}`);
    expect(chosen.summary).toEqual(all.summary);
    expect(chosen.data).toHaveLength(all.summary[status]);
  }
  const [some] = all.data;
  const part = some?.name.slice(1, -1).toUpperCase() ?? '';
  const found = await viewer.get<Fleet>(`/fleet?q=${encodeURIComponent(part)}&sort=name`);
  expect(found.data.map(({ id }) => id)).toContain(some?.id);
  expect(found.summary.total).toBe(found.data.length);
  const names = (await viewer.get<Fleet>('/fleet?sort=name')).data.map(({ name }) => name.toLowerCase());
  expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
  const scores = (await viewer.get<Fleet>('/fleet?sort=score')).data.map(({ score }) => score ?? 101);
  expect(scores).toEqual(scores.toSorted((a, b) => a - b));
  expect((await viewer.ask('GET', '/fleet?status=well')).status).toBe(400);
  expect((await viewer.ask('GET', '/fleet?colour=red')).status).toBe(400);
});

test('a watched connection: never run, then with score, worst finding and next run', async () => {
  const id = await makeKeylessAccount();
  const { id: connection } = await fixtureJson<Connection>([
    'connection',
    'add',
    '--account',
    String(id),
    '--name',
    'store',
    '--tls',
    'disable',
    '--every',
    '1h',
    '--url',
    inject('sharedStore')['DATABASE_URL'] ?? '',
    '--threshold',
    'PG_SHARED_BUFFERS_LOW.warning_bytes=999999999999',
  ]);
  const viewer = await signInAs(id, ['viewer']);
  const row = async () => (await viewer.get<Fleet>('/fleet')).data.find((each) => each.id === connection);
  expect(await row()).toMatchObject({
    status: 'never_run',
    score: null,
    worst: null,
    last_checked_at: null,
    stale: false,
    interval_seconds: 3_600,
    next_due_at: time,
    trend: Array(30).fill(null),
  });
  const { score, created_at } = await fixtureJson<HealthCheck>([
    'check',
    'run',
    '--connection',
    String(connection),
  ]);
  const checked = await row();
  expect(checked).toMatchObject({ score, last_checked_at: created_at, stale: false });
  expect(checked?.worst?.severity).toMatch(/^(critical|warning)$/);
  expect(checked?.trend).toEqual([...Array(29).fill(null), score]);
  await fixtureJson(['connection', 'remove', String(connection)]);
  expect(await row()).toBeUndefined();
});

test('connections of other accounts are not shown', async () => {
  const [one, other] = [await makeKeylessAccount(), await makeKeylessAccount()];
  await fillAccount(one, { connections: 3, tickets: 5, activity: 100, days: 2 });
  const stranger = await signInAs(other, ['owner']);
  expect(await stranger.get('/fleet')).toMatchObject({ data: [], summary: { total: 0 } });
});
