import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Account, makeAccount } from './account.ts';
import { commandJson } from './command.ts';
import { type Service, startProcess, startService, temporaryFolder } from './running-service.ts';

// The service is away, and the collector goes on.

const PASSWORD = 'unspoken-away';
const folder = temporaryFolder();
const store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
let account: Account;
let service: Service;
let shop: number;

const port = async () => new URL(service.origin).port;
const serve = (more: Record<string, string> = {}) =>
  startService({ ...inject('sharedStore'), ...more }, ['--no-monitor']);

beforeAll(async () => {
  service = await serve();
  account = await makeAccount();
  await store.connect();
  await store.query('drop role if exists away_watcher');
  await store.query(`create role away_watcher login password '${PASSWORD}'`);
});

afterAll(async () => {
  await service.stop();
  await store.query('drop role if exists away_watcher');
  await store.end();
  folder.remove();
});

function writeFile(name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

async function start() {
  const url = new URL(inject('sharedStore')['DATABASE_URL'] ?? '');
  Object.assign(url, { username: 'away_watcher', password: PASSWORD });
  const file = writeFile('away.yaml', JSON.stringify({ connections: { shop: { url: url.href } } }));
  return startProcess(
    [
      ...['collect', '--url', service.origin, '--name', 'away', '--file', file],
      ...['--folder', join(folder.path, 'away'), '--token-file', join(folder.path, 'token')],
    ],
    {},
  );
}

async function times(): Promise<number[]> {
  const { rows } = await store.query<{ at: number }>(
    'select extract(epoch from created_at)::float8 as at from health_check where connection_id = $1 order by created_at',
    [shop],
  );
  return rows.map(({ at }) => at);
}

const counted = async (table: string) =>
  (await store.query(`select count(*)::int as n from ${table} where account_id = $1`, [account.id])).rows[0]
    .n;

test('while the service is away the collector measures on, also after kill -9, and delivers with the times', async () => {
  const enrol = ['collector', 'enrol', '--account', `${account.id}`, '--name', 'away'];
  writeFile('token', (await commandJson<{ token: string }>(enrol)).token);
  const add = ['connection', 'add', '--account', `${account.id}`, '--collector', 'away', '--name', 'shop'];
  shop = (await commandJson<{ id: number }>([...add, '--engine', 'postgres', '--every', '10s'])).id;
  let collector = await start();
  try {
    await collector.says(/health check delivered/);
    const [tickets, events] = [await counted('ticket'), await counted('event')];
    const address = await port();
    await service.stop();
    const gone = Date.now() / 1_000;
    await collector.says(/the service is not reached/);
    await new Promise((done) => setTimeout(done, 22_000));
    await collector.stop('SIGKILL');
    const killed = Date.now() / 1_000;
    expect(statSync(join(folder.path, 'away', 'collector-buffer.db')).mode & 0o777).toBe(0o600);
    collector = await start();
    // Of checks within a minute, measures keep the last: a minute with a run has to end before the service is back.
    const turned = 60 * Math.ceil((gone + 15) / 60) + 1;
    const left = Math.max(24_000, 1_000 * turned - Date.now());
    await new Promise((done) => setTimeout(done, left));
    service = await serve({ PORT: address });
    const back = Date.now() / 1_000;
    await collector.says(/health checks delivered that were measured before/);
    await expect.poll(async () => (await times()).filter((at) => at > back).length).toBeGreaterThan(0);
    const away = (await times()).filter((at) => at > gone && at < back);
    expect(away.filter((at) => at < killed)).not.toEqual([]);
    expect(away.filter((at) => at > killed)).not.toEqual([]);
    expect(new Set(away.map((at) => at.toFixed(3))).size).toBe(away.length);
    const { rows } = await store.query(
      `select count(*)::int as n from measure_run where connection_id = $1 and measured_at between to_timestamp($2) and to_timestamp($3)`,
      [shop, gone, back],
    );
    expect(rows[0].n).toBeGreaterThan(0);
    // Only the run after the return judges.
    const entries = await store.query(
      `select count(*)::int as n from activity where account_id = $1 and action_type = 'health_check_completed'
          and occurred_at between to_timestamp($2) and to_timestamp($3)`,
      [account.id, gone, back],
    );
    expect(entries.rows[0].n).toBe(0);
    expect([await counted('ticket'), await counted('event')]).toEqual([tickets, events]);
  } finally {
    await collector.stop();
  }
  expect(collector.output()).not.toContain(PASSWORD);
});
