import { expect, test } from 'vitest';
import { fillAccount, makeAccount, makeKey, makeKeylessAccount } from './account.ts';
import { read } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import type { Connection, Fleet, List } from './records.ts';

const PATH = '/api/v1/health/fleet';

function statusOf(score: number | null): string {
  if (score === null) return 'never_run';
  if (score >= 80) return 'healthy';
  return score >= 50 ? 'warning' : 'critical';
}

test('200: an account without connections', async () => {
  const { key } = await makeAccount({ plan: 'team' });
  expect(await read(PATH, key)).toEqual({
    data: [],
    summary: { total: 0, healthy: 0, warning: 0, critical: 0, never_run: 0 },
  });
});

test('200: every connection once, its status by its score, and the counts', async () => {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 120, tickets: 200, activity: 10, days: 3 });
  const url = 'postgres://watcher@127.0.0.1:1/shop';
  const add = (name: string) =>
    fixtureJson<Connection>(['connection', 'add', '--account', String(id), '--name', name, '--url', url]);
  const never = await add('never run');
  const down = await add('down');
  await fixtureJson(['check', 'run', '--connection', String(down.id)]);
  const { key } = await makeKey(id, 'suite');

  const fleet = await read<Fleet>(PATH, key);
  const connections = [1, 2].map((page) =>
    read<List<Connection>>(`/api/v1/health/connections?per_page=100&page=${page}`, key),
  );
  const listed = (await Promise.all(connections)).flatMap(({ data }) => data);
  expect(fleet.data).toEqual(
    listed.map(({ id, name, score }) => ({ id, name, score, status: statusOf(score) })),
  );
  expect(fleet.data).toContainEqual({ id: never.id, name: 'never run', score: null, status: 'never_run' });
  expect(fleet.data).toContainEqual({ id: down.id, name: 'down', score: 0, status: 'critical' });
  const count = (status: string) => fleet.data.filter((entry) => entry.status === status).length;
  expect(fleet.summary).toEqual({
    total: 122,
    healthy: count('healthy'),
    warning: count('warning'),
    critical: count('critical'),
    never_run: count('never_run'),
  });
  expect(fleet.summary.healthy).toBeGreaterThan(0);
  expect(Object.keys(fleet)).toEqual(['data', 'summary']);
});
