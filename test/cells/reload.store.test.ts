import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../contract/browser.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { freePort } from '../contract/free-port.ts';
import { type Process, type Service, startProcess, startService } from '../contract/running-service.ts';
import { type TestStore, WATCHER_PASSWORD } from '../support/store.ts';
import { waitForLock } from '../support/wait-for-lock.ts';
import { addAccount, addMember, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells, urlOf } from './two-cells.ts';

const KEPT = '"msg":"cells: keeping the old ones"';
const TAKEN = '"msg":"cells: using those that the file has now"';

interface Entry {
  id: number;
  url: string;
}

let cells: TwoCells;
let file: string;
let service: Service;
let metrics: string;
let one: Entry;
let two: Entry;
let three: Entry;
let accounts: CellAccount[];
/** On the database of cell 3. */
let third: pg.Client;

const databaseUrl = (store: TestStore, name: string) => {
  const url = urlOf(store);
  return `${url.slice(0, url.lastIndexOf('/'))}/${name}`;
};
const write = (text: string) => writeFileSync(file, text, { mode: 0o600 });
const name = (...named: Entry[]) => write(JSON.stringify({ cells: named }));

beforeAll(async () => {
  cells = await startTwoCells();
  file = cells.environment['DBVITALS_CELLS_FILE'] ?? '';
  const root = await cells.second.superuser();
  await root.query('create database third template store');
  one = { id: 1, url: urlOf(cells.first) };
  two = { id: 2, url: urlOf(cells.second) };
  three = { id: 3, url: databaseUrl(cells.second, 'third') };
  const port = await freePort();
  metrics = `http://127.0.0.1:${port}/metrics`;
  service = await startService({ ...cells.environment, METRICS_PORT: String(port), LOG_LEVEL: 'info' });
  accounts = [await addAccount(cells.environment, 1), await addAccount(cells.environment, 2)];
  third = await cells.second.superuser('third');
});

afterAll(async () => {
  await service.stop();
  await cells.stop();
});

/** Sends SIGHUP, and returns what the process says about the cells then. */
async function reload(reloaded: Process = service): Promise<string> {
  const before = reloaded.output().length;
  const said = () =>
    reloaded
      .output()
      .slice(before)
      .split('\n')
      .filter((line) => line.includes('"msg":"cells: '));
  process.kill(reloaded.pid, 'SIGHUP');
  await expect.poll(said, { interval: 20 }).toHaveLength(1);
  return said().join();
}

async function status({ key }: { key: string }): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.origin}/api/v1/health/fleet`, { headers })).status;
}

const statuses = () => Promise.all(accounts.map(status));
const readMetrics = async () => (await fetch(metrics)).text();

/** An account of cell 3 with a connection whose health check is due. */
async function addWatching(): Promise<CellAccount & { connectionId: number }> {
  const account = await addAccount(cells.environment, 3);
  const [{ host = '' } = {}] = cells.second.address;
  const url = `postgres://watcher:${WATCHER_PASSWORD}@${encodeURIComponent(host)}/postgres`;
  const named = ['--account', String(account.id), '--name', 'watched', '--tls', 'disable'];
  const { id: connectionId } = await fixtureJson<{ id: number }>(
    ['connection', 'add', ...named, '--url', url, '--every', '1h'],
    cells.environment,
  );
  return { ...account, connectionId };
}

const expectChecked = (account: CellAccount) =>
  expect
    .poll(
      async () =>
        (await third.query('select from health_check where account_id = $1', [account.id])).rowCount,
    )
    .toBe(1);

test.for<[string, () => void, RegExp]>([
  ['is malformed', () => write('cells: 5'), /cells must list at least one cell/],
  [
    'can be read by others',
    () => {
      name(one, two);
      chmodSync(file, 0o644);
    },
    /other users can read/,
  ],
  ['lacks a cell in use', () => name(one), /does not name cell 2, where an account lives: add it/],
  ['lacks the control store', () => name(two), /The url of the first cell[^"]* restart it/],
  [
    'names another control store',
    () => write(JSON.stringify({ cells: [one, two], control_url: three.url })),
    /The url of the first cell[^"]* restart it/,
  ],
  [
    'gives a cell the number of another',
    () => name(one, two, { id: 3, url: `${two.url}?application_name=x` }),
    /names the store of cell 2 as cell 3, and nothing was changed/,
  ],
  [
    'names a cell that does not answer',
    () => name(one, two, { id: 3, url: databaseUrl(cells.second, 'absent') }),
    /Cell 3 can't be opened/,
  ],
  [
    'leads a cell in use elsewhere',
    () => name(one, { id: 2, url: databaseUrl(cells.second, 'absent') }),
    /Cell 2 can't be opened/,
  ],
])(
  'a file that %s is refused on SIGHUP with one line, and the service goes on',
  async ([, change, reason]) => {
    rmSync(file);
    change();
    const said = await reload();
    expect(said).toMatch(reason);
    expect(said).toContain(KEPT);
    expect(said).not.toMatch(/unspoken|stack/);
    expect(await statuses()).toEqual([200, 200]);
  },
);

test('a file that is gone is refused too', async () => {
  renameSync(file, `${file}.away`);
  expect(await reload()).toMatch(
    /DBVITALS_CELLS_FILE cannot be read \(ENOENT\).*cells: keeping the old ones/,
  );
  expect(await statuses()).toEqual([200, 200]);
  renameSync(`${file}.away`, file);
});

test('a cell without accounts can be added and removed, and its connections end', async () => {
  const connected = async () => {
    const { rows } = await third.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where datname = 'third' and application_name like 'dbvitals%'`,
    );
    return rows[0]?.count ?? -1;
  };
  name(one, two, three);
  expect(await reload()).toContain(`"cells":[1,2,3],${TAKEN}`);
  expect(await readMetrics()).toContain('dbvitals_store_up{cell="3"} 1');
  expect(await connected()).toBeGreaterThan(0);
  name(one, two);
  await third.query('set session_replication_role = replica'); // without the account's own row
  await third.query(
    `insert into account_move (account_id, move_id, other_cell, state) values (7, gen_random_uuid(), 1, 'arriving')`,
  );
  expect(await reload()).toMatch(/does not name cell 3, to which account 7 is being moved: add it/);
  await third.query('delete from account_move');
  expect(await reload()).toContain(`"cells":[1,2],${TAKEN}`);
  await expect.poll(connected).toBe(0);
  expect(await readMetrics()).not.toContain('cell="3"');
  expect(await statuses()).toEqual([200, 200]);
});

test.each(['serve', 'monitor'])('a SIGHUP during the start of %s is not lost', async (command) => {
  const holder = await cells.first.superuser('store');
  await holder.query('begin; lock table migration');
  name(one, two);
  const starting = startProcess([command], { ...cells.environment, PORT: '0' });
  try {
    await waitForLock(holder); // it has read its file
    name(one, two, three);
    process.kill(starting.pid, 'SIGHUP');
    await holder.query('rollback');
    await starting.says(new RegExp(`"cells":\\[1,2,3\\],${TAKEN}`));
  } finally {
    await holder.query('rollback');
    expect(await starting.stop()).toBe(0);
  }
});

test('a cell that is added serves keys, the console, health checks and metrics without a restart', async () => {
  name(one, two, three);
  expect(await reload()).toContain(`"cells":[1,2,3],${TAKEN}`);
  const account = await addWatching();
  expect(await status(account)).toBe(200);
  const { linkToken } = await addMember(cells.environment, account.id, {
    email: 'ada@example.com',
    role: 'owner',
  });
  const page = openBrowser({ origin: service.origin });
  await page.change('POST', `/link/${linkToken}`, { password: 'seven quiet otters near the harbour' });
  const made = await page.change<{ key: string }>('POST', '/keys', { name: 'later', expires_in: null });
  expect(await status(made)).toBe(200);
  await expectChecked(account);
  const shown = await readMetrics();
  for (const line of ['dbvitals_store_up', 'dbvitals_gate_queue_requests', 'dbvitals_health_checks_due'])
    expect(shown).toContain(`${line}{cell="3"}`);
  expect(shown).toMatch(/dbvitals_gate_verdicts_total\{cell="3",verdict="admitted"\} [1-9]/);
  name(one, two);
  expect(await reload()).toMatch(/does not name cell 3, where an account lives: add it/);
  expect(await status(account)).toBe(200);
});

test('the URL of a cell can change to another way to the same store', async () => {
  const account = accounts[1] ?? { key: '' };
  name(one, { ...two, url: `${two.url}?connect_timeout=7` }, three);
  expect(await reload()).toContain(`"cells":[1,2,3],${TAKEN}`);
  expect(await status(account)).toBe(200);
  name(one, two, three);
  expect(await reload()).toContain(`"cells":[1,2,3],${TAKEN}`);
  expect(await status(account)).toBe(200);
});

test('a process that only monitors takes a cell up, and refuses a file without one in use', async () => {
  await service.stop();
  name(one, two);
  const monitor = startProcess(['monitor'], cells.environment);
  try {
    await monitor.says(/(?:[\s\S]*?the monitor runs health checks that are due){2}/);
    const account = await addAccountOfThird();
    expect(await reload(monitor)).toContain(`"cells":[1,2,3],${TAKEN}`);
    await expectChecked(account);
    name(one, three);
    expect(await reload(monitor)).toMatch(
      /does not name cell 2, where an account lives.*keeping the old ones/,
    );
  } finally {
    expect(await monitor.stop()).toBe(0);
  }
});

async function addAccountOfThird(): Promise<CellAccount> {
  name(one, two, three);
  return addWatching();
}
