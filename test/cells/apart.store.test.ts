import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Answer, ask } from '../contract/ask.ts';
import { type Browser, openBrowser } from '../contract/browser.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { freeze, send } from '../support/process-tree.ts';
import type { TestStore } from '../support/store.ts';
import { succeedsOnce } from '../support/succeeds-once.ts';
import { addAccount, addMember, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

// A cell that is frozen, stuck or broken affects only its own accounts. What is asked of the other one is judged by order: it is
// answered while requests to the slow cell, which came first, still wait.

const PASSWORD = 'seven quiet otters near the harbour';

let cells: TwoCells;
let service: Service;
const frozen: number[] = [];

beforeAll(async () => {
  cells = await startTwoCells();
  service = await startService(cells.environment, ['--no-monitor']);
});

afterEach(thaw);

afterAll(async () => {
  await service.stop();
  await cells.stop();
});

/** Stops all processes of a store: its host is reachable, and nobody answers. */
function freezeStore({ address: [{ host = '' } = {}] }: TestStore): void {
  const [postmaster] = readFileSync(join(host, 'postmaster.pid'), 'utf8').split('\n');
  frozen.push(...freeze([Number(postmaster)]));
}

function thaw(): void {
  for (const pid of frozen.splice(0)) send(pid, 'SIGCONT');
}

interface Owned {
  account: CellAccount;
  email: string;
  /** Of the account's owner. */
  page: Browser;
}

async function addOwned(cell: number): Promise<Owned> {
  const account = await addAccount(cells.environment, cell);
  const email = `ada-${account.id}@example.com`;
  const { linkToken } = await addMember(cells.environment, account.id, { email, role: 'owner' });
  const page = openBrowser({ origin: service.origin });
  await page.change('POST', `/link/${linkToken}`, { password: PASSWORD });
  return { account, email, page };
}

/** Counts which of some requests were answered. */
function watch<T>(requests: readonly Promise<T>[]): { answers: Promise<T[]>; answered(): number } {
  let answered = 0;
  const counted = requests.map((request) =>
    request.finally(() => {
      answered += 1;
    }),
  );
  return { answers: Promise.all(counted), answered: () => answered };
}

const statuses = (answers: readonly Answer[]) => new Set(answers.map(({ status }) => status));

test('a frozen cell delays no page, sign-in or link of another cell', async () => {
  const [here, there] = [await addOwned(1), await addOwned(2)];
  const { linkToken } = await addMember(cells.environment, here.account.id, { email: 'bo@example.com' });
  for (const { page } of [here, there]) await page.get('/me');
  freezeStore(cells.second);
  /** Whether it is answered before a request to the frozen cell, which came first. */
  const isFirst = async (request: () => Promise<unknown>) => {
    const theirs = watch([there.page.ask('GET', '/me')]);
    await request();
    const before = theirs.answered() === 0;
    expect(statuses(await theirs.answers)).toEqual(new Set([500]));
    return before;
  };
  const readMine = async () =>
    expect(await here.page.get('/me')).toMatchObject({ accounts: [{ id: here.account.id }] });
  expect(await succeedsOnce(() => isFirst(readMine))).toBe(true);
  const addKey = () => here.page.change('POST', '/keys', { name: 'made meanwhile', expires_in: null });
  expect(await succeedsOnce(() => isFirst(addKey))).toBe(true);
  await here.page.change('POST', '/sign-out');
  await here.page.change('POST', '/sign-in', { email: here.email, password: PASSWORD });
  await openBrowser({ origin: service.origin }).change('POST', `/link/${linkToken}`, { password: PASSWORD });
  thaw();
  const isBack = async () => (await there.page.ask('GET', '/me')).status;
  await expect.poll(isBack).toBe(200);
});

test.each([1, 2])(
  'changes that wait for a locked table of cell %s stop no page of the other cell',
  async (cell) => {
    const stuck = await Promise.all([addOwned(cell), addOwned(cell), addOwned(cell), addOwned(cell)]);
    const other = await addOwned(3 - cell);
    const owner = await (cell === 1 ? cells.first : cells.second).superuser('store');
    await owner.query('begin; lock table api_key in access exclusive mode');
    const changes = watch(
      stuck.map(({ page }) => page.ask('POST', '/keys', { name: 'stuck', expires_in: null })),
    );
    try {
      await expect
        .poll(async () => {
          const { rows } = await owner.query(
            `select count(*) from pg_locks where not granted and relation = 'api_key'::regclass`,
          );
          return Number(rows[0].count);
        })
        .toBeGreaterThanOrEqual(2);
      for (let n = 0; n < 3; n += 1)
        expect(await other.page.get('/me')).toMatchObject({ account: { id: other.account.id } });
      await other.page.change('POST', '/keys', { name: 'made meanwhile', expires_in: null });
    } finally {
      await owner.query('rollback');
    }
    await changes.answers;
  },
);

test('a cell whose statements fail is left out of the console, and the log says why', async () => {
  const here = await addOwned(1);
  const owner = await cells.second.superuser('store');
  await owner.query('revoke select on member from dbvitals_console');
  try {
    expect(await here.page.get('/me')).toMatchObject({ accounts: [{ id: here.account.id }] });
    await here.page.change('POST', '/sign-out');
    await here.page.change('POST', '/sign-in', { email: here.email, password: PASSWORD });
    await service.says(/"cell":2,"reason":"permission denied for table member".*a cell fails/);
  } finally {
    await owner.query('grant select on member to dbvitals_console');
  }
});

test("requests that wait for a frozen cell delay no request of the other one's keys, and its numbers are right", async () => {
  expect(await succeedsOnce(askBesideFrozen)).toBe(true);
});

/** Whether all requests to a cell are answered before any of those to the frozen one, which came first. */
async function askBesideFrozen(): Promise<boolean> {
  const { environment } = cells;
  const addKeys = async (account: CellAccount) => {
    const named = ['key', 'create', '--account', String(account.id), '--name', 'unseen'];
    const keys: string[] = [];
    for (let n = 0; n < 3; n += 1) keys.push((await fixtureJson<{ key: string }>(named, environment)).key);
    return keys;
  };
  const [here, there] = [await addAccount(environment, 1), await addAccount(environment, 2)];
  const [unseenHere, unseenThere] = [await addKeys(here), await addKeys(there)];
  const request = (path: string, key: string) => ask(path, { origin: service.origin, key, alone: true });
  const limit = Number((await request('/api/v1/health/fleet', here.key)).headers['x-ratelimit-limit']);
  expect((await request('/api/v1/health/fleet', there.key)).status).toBe(200);

  freezeStore(cells.second);
  // More than a batch of the gate, so that others queue behind it; reads; and lookups of keys that no process has seen.
  const slow = watch([
    ...Array.from({ length: 600 }, () => request('/api/v1/health/fleet', there.key)),
    ...Array.from({ length: 20 }, (_, n) => request(`/api/v1/activity?per_page=${n + 1}`, there.key)),
    ...unseenThere.map((key) => request('/api/v1/health/fleet', key)),
  ]);
  await wait(300);
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => request('/api/v1/health/fleet', here.key)),
    ...Array.from({ length: 10 }, (_, n) => request(`/api/v1/activity?per_page=${n + 1}`, here.key)),
  ]);
  const first = await Promise.all(unseenHere.map((key) => request('/api/v1/health/fleet', key)));
  const wereFirst = slow.answered() === 0;

  expect(statuses([...answers, ...first])).toEqual(new Set([200]));
  const remaining = answers.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
  expect(remaining.toSorted((a, b) => b - a)).toEqual(remaining.map((_, n) => limit - 2 - n));
  for (const { headers } of first) expect(Number(headers['x-ratelimit-remaining'])).toBe(limit - 1);
  expect(statuses(await slow.answers)).toEqual(new Set([500]));
  const { rows } = await cells.first.writer.query(
    `select request_id from activity where account_id = $1 and action_type = 'api_request'`,
    [here.id],
  );
  expect(rows).toHaveLength(1 + answers.length + first.length);
  thaw();
  const isBack = async () => (await request('/api/v1/health/fleet', unseenThere[0] ?? '')).status;
  await expect.poll(isBack).toBe(200);
  return wereFirst;
}
