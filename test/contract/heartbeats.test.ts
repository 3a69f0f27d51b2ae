import net from 'node:net';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { command, commandJson } from './command.ts';
import type { Connection } from './records.ts';
import { startService } from './running-service.ts';

const service = startService(
  { ...inject('sharedStore'), DBVITALS_TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'trace' },
  ['--no-monitor'],
);
afterAll(async () => {
  await (await service).stop();
});

async function addConnection() {
  const { id: account, key } = await makeAccount();
  const words = [
    'connection',
    'add',
    '--account',
    String(account),
    '--name',
    'shop',
    '--backup-expected',
    '26h',
  ];
  const { id } = await commandJson<Connection>([...words, '--url', 'postgres://w@db.example.com/shop']);
  const { origin } = await service;
  const { url } = await commandJson<{ url: string }>([
    'backup',
    'heartbeat',
    '--connection',
    String(id),
    '--url',
    origin,
  ]);
  return { id, key, url, token: url.slice(url.lastIndexOf('/') + 1) };
}

const post = (url: string, init: RequestInit = {}) => fetch(url, { method: 'POST', ...init });
const history = (id: number) =>
  commandJson<{ succeeded: boolean; bytes: number | null }[]>([
    'backup',
    'history',
    '--connection',
    String(id),
  ]);

/** Sends the head of a request and a part of its body, and returns what comes back until it ends, or 3 s are over. */
async function exchange(
  origin: string,
  head: string,
  send: (socket: net.Socket) => unknown,
): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = net.connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {});
  socket.write(`${head}\r\nhost: ${hostname}:${port}\r\n`);
  send(socket);
  await expect.poll(() => text).toContain('\r\n\r\n');
  socket.destroy();
  return text;
}

test('a job reports by its URL, and no log of the service has the token', async () => {
  const { id, key, url, token } = await addConnection();
  const { origin, output } = await service;
  expect(await (await post(`${url}/start`)).text()).toBe('ok\n');
  expect((await post(`${url}/0?size=5000`, { body: 'log of the job' })).status).toBe(200);
  expect((await post(`${url}/1`)).status).toBe(200);
  expect(await history(id)).toMatchObject([
    { succeeded: false, bytes: null },
    { succeeded: true, bytes: 5_000, source: 'heartbeat', started_at: expect.any(String) },
  ]);
  // Whatever is wrong with a request, its path is in no log.
  const odd = [
    `${url}?size=x`,
    `${url}/strange`,
    `${url}x`,
    url.replace('heartbeat', 'heartbeats'),
    `${url}/%ff`,
  ];
  for (const one of odd) expect((await post(one)).status).toBeGreaterThanOrEqual(400);
  expect((await fetch(url)).status).toBe(405);
  const path = new URL(url).pathname;
  await exchange(origin, `POST ${path} HTTP/1.1`, (socket) => socket.write('a b: c\r\n\r\n'));
  await exchange(origin, `POST ${path}#x HTTP/9.9`, (socket) => socket.write('\r\n'));
  await expect.poll(output).toContain('"path":"/heartbeat/*"');
  expect(output()).not.toContain(token);
  const entries = (await readLog(key)).filter(({ action_type }) => action_type.startsWith('backup'));
  expect(entries.map(({ action_type }) => action_type).toSorted()).toEqual(
    ['backup_failed', 'backup_heartbeat_renewed', 'backup_succeeded'].toSorted(),
  );
  expect(JSON.stringify(entries)).not.toContain(token);
});

test('a slow or endless body does not delay the report', async () => {
  const { id, url } = await addConnection();
  const { origin } = await service;
  const path = new URL(url).pathname;
  const slow = await exchange(origin, `POST ${path}?size=1 HTTP/1.1`, (socket) =>
    socket.write('content-length: 100000000\r\ncontent-type: text/plain\r\n\r\na'),
  );
  const endless = await exchange(origin, `POST ${path}?size=2 HTTP/1.1`, (socket) => {
    socket.write('transfer-encoding: chunked\r\n\r\n');
    for (let n = 0; n < 100; n += 1) socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`);
  });
  expect([slow.slice(0, 12), endless.slice(0, 12)]).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  expect(await history(id)).toMatchObject([{ bytes: 2 }, { bytes: 1 }]);
});

test('the API below /api/ has no heartbeat', async () => {
  const { url, id } = await addConnection();
  const { origin } = await service;
  for (const path of ['/api/heartbeat', '/api/v1/heartbeat', '/console/api/heartbeat'])
    expect((await post(url.replace(`${origin}/heartbeat`, origin + path))).status).toBeGreaterThanOrEqual(
      400,
    );
  expect(await history(id)).toEqual([]);
});

test('the commands say what is wrong', async () => {
  const { id } = await addConnection();
  const of = ['--connection', String(id)];
  const refused = [
    ['backup', 'heartbeat'],
    ['backup', 'heartbeat', ...of, '--revoke', '--url', 'http://localhost'],
    ['backup', 'history', ...of, '--limit', '501'],
    ['connection', 'change', String(id), '--backup-expected', '59m'],
    ['connection', 'change', String(id), '--backup-expected', '366d'],
  ];
  for (const words of refused) expect((await command(words)).exit, words.join(' ')).toBe(2);
  expect(await commandJson(['backup', 'heartbeat', ...of, '--revoke'])).toEqual({
    connection_id: id,
    revoked: true,
  });
  const again = await command(['backup', 'heartbeat', ...of, '--revoke']);
  expect([again.exit, again.stderr]).toEqual([1, expect.stringMatching(/no heartbeat/)]);
});

test("a tool's own report is read once, from standard input", async () => {
  const { id, key } = await addConnection();
  const of = ['--connection', String(id), '--from', 'pgbackrest'];
  const stop = Math.floor(Date.now() / 1_000) - 3_600;
  const backup = [
    { label: '20260101-010002F', error: false, info: { size: 5_000 }, timestamp: { start: stop - 60, stop } },
  ];
  const input = JSON.stringify([{ name: 'shop', backup }]);
  const words = ['backup', 'report', '-', ...of];
  const read = () => commandJson(words, { input });
  expect([await read(), await read()]).toEqual([
    { connection_id: id, read: 1, added: 1 },
    { connection_id: id, read: 1, added: 0 },
  ]);
  expect(await history(id)).toMatchObject([
    { source: 'pgbackrest', label: '20260101-010002F', succeeded: true, bytes: 5_000 },
  ]);
  expect((await readLog(key)).map(({ action_type }) => action_type)).toContain('backup_succeeded');
  const refused = [
    await command(words, { input: '{"a": 1}' }),
    await command(['backup', 'report', '/nowhere/report.json', ...of]),
    await command([...words, '--server', 'main'], { input }),
    await command([...words, '--stanza', 'crm'], { input }),
  ];
  expect(refused.map(({ exit }) => exit)).toEqual([2, 2, 2, 2]);
  expect(await history(id)).toHaveLength(1);
});
