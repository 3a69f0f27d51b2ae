import { expect, test } from 'vitest';
import { makeAccount } from './account.ts';
import { ask } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import type { Connection } from './records.ts';

const CONNECTIONS = '/api/v1/health/connections';
const FLEET = '/api/v1/health/fleet';

/** Asks whether what `etag` stands for is still good. */
function conditional(path: string, key: string, etag: string) {
  return ask(path, { key, headers: { 'if-none-match': etag } });
}

async function etagOf(path: string, key: string): Promise<string> {
  return (await ask(path, { key })).headers['etag'] ?? 'none';
}

test('304: unchanged data, for every form of If-None-Match in RFC 9110', async () => {
  const { key } = await makeAccount();
  const etag = await etagOf(FLEET, key);
  for (const condition of [etag, '*', `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} , "more"`]) {
    const answer = await conditional(FLEET, key, condition);
    expect(answer.status, condition).toBe(304);
    expect(answer.headers['etag']).toBe(etag);
    expect(answer.headers['content-length'] ?? '0').toBe('0');
  }
});

test('200: a different, a broken or no tag', async () => {
  const { key } = await makeAccount();
  const etag = await etagOf(FLEET, key);
  for (const condition of [
    '"other"',
    etag.slice(1, -1),
    etag.slice(0, -1),
    'W/"other"',
    '',
    '""',
    'nonsense',
  ]) {
    expect((await conditional(FLEET, key, condition)).status, condition).toBe(200);
  }
  expect((await ask(FLEET, { key, headers: { 'if-modified-since': new Date().toUTCString() } })).status).toBe(
    200,
  );
});

test('304: HEAD too', async () => {
  const { key } = await makeAccount();
  const headers = { 'if-none-match': await etagOf(FLEET, key) };
  expect((await ask(FLEET, { key, method: 'HEAD', headers })).status).toBe(304);
});

test('a failure is not turned into 304', async () => {
  const { key } = await makeAccount();
  for (const path of ['/api/v1/nothing', `${CONNECTIONS}?page=0`, `${CONNECTIONS}/999999999/checks/latest`]) {
    expect((await conditional(path, key, '*')).status, path).toBeGreaterThanOrEqual(400);
  }
  expect((await conditional('/api/v1/activity', key, '*')).status).toBe(200);
});

test('200: after a change, every endpoint that shows it sends a new answer', async () => {
  const { id, key } = await makeAccount();
  const account = ['--account', String(id)];
  const added = await fixtureJson<Connection>([
    'connection',
    'add',
    ...account,
    '--name',
    'down',
    '--url',
    'postgres://watcher@127.0.0.1:1/shop',
  ]);
  const latest = `${CONNECTIONS}/${added.id}/checks/latest`;
  const tickets = '/api/v1/ops/tickets';
  const stats = '/api/v1/ops/stats';
  const members = '/api/v1/team/members';
  const run = ['check', 'run', '--connection', String(added.id)];
  await fixtureJson(run);
  const changes: [string[], string[]][] = [
    [run, [CONNECTIONS, latest, tickets]],
    [
      ['connection', 'change', String(added.id), '--name', 'renamed'],
      [CONNECTIONS, FLEET, tickets],
    ],
    [
      ['member', 'add', ...account, '--name', 'Ada', '--email', 'ada@example.com', '--role', 'owner'],
      [members],
    ],
    [
      ['connection', 'remove', String(added.id)],
      [CONNECTIONS, FLEET, tickets, stats],
    ],
  ];
  for (const [change, paths] of changes) {
    const before = new Map<string, string>();
    for (const path of paths) before.set(path, await etagOf(path, key));
    await fixtureJson(change);
    for (const [path, etag] of before) {
      const answer = await conditional(path, key, etag);
      expect(answer.status, `${path} after ${change.join(' ')}`).toBe(200);
      expect(answer.headers['etag']).not.toBe(etag);
    }
  }
  expect((await conditional(latest, key, '*')).status).toBe(404);
});

test('no 304 after a change, even while other clients keep the old answer cached', async () => {
  const { id, key } = await makeAccount();
  const { id: connection } = await fixtureJson<Connection>([
    'connection',
    'add',
    '--account',
    String(id),
    '--name',
    'turn 0',
    '--url',
    'postgres://watcher@127.0.0.1:1/shop',
  ]);
  let going = true;
  const warm = Array.from({ length: 3 }, async () => {
    while (going) await conditional(FLEET, key, await etagOf(FLEET, key));
  });
  for (let turn = 1; turn <= 5; turn += 1) {
    const etag = await etagOf(FLEET, key);
    await fixtureJson(['connection', 'change', String(connection), '--name', `turn ${turn}`]);
    const answer = await conditional(FLEET, key, etag);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`turn ${turn}`);
  }
  going = false;
  await Promise.all(warm);
});

test('403: a tag is useless after a change of plan and for another account', async () => {
  const { id, key } = await makeAccount();
  const stats = '/api/v1/ops/stats';
  const etag = await etagOf(stats, key);
  await fixtureJson(['account', 'change', String(id), '--plan', 'team']);
  expect((await conditional(stats, key, etag)).status).toBe(403);
});
