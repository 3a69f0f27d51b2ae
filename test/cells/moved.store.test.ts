import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../src/store/directory/move/move-fixture.ts';
import { type Browser, openBrowser } from '../contract/browser.ts';
import { commandJson } from '../contract/command.ts';
import { type Service, startProcess, startService } from '../contract/running-service.ts';
import { actionsIn, addAccount, addMember, type CellAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

const MOVING = {
  error: { code: 'conflict', message: expect.stringMatching(/^This account is being moved /) },
};

let cells: TwoCells;
/** Superusers, who see all rows. */
let old: pg.Client;
let now: pg.Client;
/** The service that knows the account from before the move, and another one. */
const services: Service[] = [];

beforeAll(async () => {
  cells = await startTwoCells();
  for (let n = 0; n < 2; n += 1) services.push(await startService(cells.environment, ['--no-monitor']));
  [old, now] = [await cells.first.superuser('store'), await cells.second.superuser('store')];
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await cells.stop();
});

/** An account of cell 1, and its owner in a browser at the first service. */
async function addOwned(email: string): Promise<{ account: CellAccount; page: Browser }> {
  const account = await addAccount(cells.environment, 1, ['--requests-per-minute', '100000']);
  const { linkToken } = await addMember(cells.environment, account.id, { email, role: 'owner' });
  const page = openBrowser({ origin: services[0]?.origin ?? '' });
  await page.change('POST', `/link/${linkToken}`, { password: 'seven quiet otters near the harbour' });
  return { account, page };
}

const move = ({ id }: CellAccount) =>
  commandJson(['account', 'move', String(id), '--to', '2'], { environment: cells.environment });

async function ask({ key }: { key: string }, at: number): Promise<{ status: number; id: string | null }> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${services[at]?.origin}/api/v1/health/fleet`, { headers });
  await answer.text();
  return { status: answer.status, id: answer.headers.get('x-request-id') };
}

const createKey = (page: Browser, name: string) => page.ask('POST', '/keys', { name, expires_in: null });

/** The names of an account's keys in a cell. */
async function keysIn(cell: pg.Client, { id }: CellAccount): Promise<string[]> {
  const { rows } = await cell.query<{ name: string }>('select name from api_key where account_id = $1', [id]);
  return rows.map(({ name }) => name).toSorted();
}

/** The names of the keys whose creation the account's log of cell 2 has. */
async function loggedKeys({ id }: CellAccount): Promise<string[]> {
  const { rows } = await now.query<{ name: string }>(
    `select properties ->> 'name' as name from activity where account_id = $1 and action_type = 'api_key_created'`,
    [id],
  );
  return rows.map(({ name }) => name).toSorted();
}

test('after a move by another process, a member sees and changes the account in its new cell alone', async () => {
  const { account, page } = await addOwned('ada@example.com');
  expect((await ask(account, 0)).status).toBe(200);
  expect(await page.get('/account')).toMatchObject({ id: account.id, name: 'of cell 1' });
  await move(account);
  // Nobody may see this.
  await old.query(`update account set name = 'a stale copy' where account_id = $1`, [account.id]);
  await old.query(`update member set name = 'a stale copy' where account_id = $1`, [account.id]);
  const copy = await rowsOf(old, account.id);

  expect(await page.get('/me')).toMatchObject({
    account: { id: account.id, name: 'of cell 1' },
    accounts: [{ id: account.id, name: 'of cell 1' }],
    member: { name: 'Ada' },
  });
  const shown = await page.get<{ version: number }>('/account');
  expect(shown).toMatchObject({ name: 'of cell 1' });
  await page.change('PATCH', '/account', { version: shown.version, name: 'renamed' });
  const made = await page.change<{ key: string }>('POST', '/keys', { name: 'made later', expires_in: null });
  await page.change('POST', '/members', { name: 'Bo', email: 'bo@example.com', roles: ['viewer'] });
  expect(await page.get('/account')).toMatchObject({ name: 'renamed' });
  const answers = [await ask(account, 0), await ask(made, 0), await ask(made, 1)];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await page.change('POST', '/sign-out');
  await page.change('POST', '/sign-in', {
    email: 'ada@example.com',
    password: 'seven quiet otters near the harbour',
  });

  expect(await rowsOf(old, account.id)).toEqual(copy);
  expect(await keysIn(now, account)).toEqual(['made later', 'own']);
  const { rows } = await now.query('select name from member where account_id = $1 order by name', [
    account.id,
  ]);
  expect(rows).toEqual([{ name: 'Ada' }, { name: 'Bo' }]);
  const { rows: logged } = await now.query(
    'select request_id::text as id from activity where account_id = $1 and request_id = any($2)',
    [account.id, answers.map(({ id }) => id)],
  );
  expect(logged.map(({ id }) => id).toSorted()).toEqual(answers.map(({ id }) => id).toSorted());
  const actions = await actionsIn(cells.second, account.id);
  const added = actions.slice(copy['activity']?.filter((row) => !row.includes('api_request')).length);
  expect(added).toEqual([
    'account_changed',
    'api_key_created',
    'member_added',
    'link_created',
    'member_signed_out',
    'member_signed_in',
  ]);
});

const selectWaiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ $1`;

/** Waits until a statement of cell 1 that matches waits for a lock. */
const waitsForLock = (pattern: string) =>
  expect
    .poll(async () => (await old.query(selectWaiting, [pattern])).rowCount, { interval: 10 })
    .toBeGreaterThan(0);

/** Changes a new account while it leaves its cell, so that the change waits there. Returns the answer's status. */
async function changeWhileLeaving(email: string): Promise<number> {
  const { account, page } = await addOwned(email);
  expect((await createKey(page, 'before')).status).toBe(201);
  const holder = await cells.first.superuser('store');
  await holder.query('begin; lock table api_key in share mode');
  const moving = startProcess(['account', 'move', String(account.id), '--to', '2'], cells.environment);
  // The move has the head of the log, and the change waits for it.
  await waitsForLock('update api_key set version');
  const asked = createKey(page, 'between');
  await waitsForLock('from activity_head');
  await holder.query('commit');
  const answer = await asked;
  expect(await moving.ended, moving.output()).toBe(0);
  if (answer.status !== 201) {
    expect([answer.status, answer.json()]).toEqual([409, MOVING]);
    expect(await keysIn(now, account)).toEqual(['before', 'own']);
    expect((await createKey(page, 'between')).status).toBe(201);
    expect(await keysIn(old, account)).toEqual(['before', 'own']);
  }
  expect(await keysIn(now, account)).toEqual(['before', 'between', 'own']);
  expect(await loggedKeys(account)).toEqual(['before', 'between', 'own']);
  return answer.status;
}

test('a change that waits for the old cell while the account leaves is refused, and made once when it is repeated', async () => {
  let status = 0;
  // The move gives way to changes after a second, which a slow machine may need.
  for (let tries = 1; tries <= 3 && status !== 409; tries += 1)
    status = await changeWhileLeaving(`eve-${tries}@example.com`);
  expect(status).toBe(409);
  for (const service of services) expect(service.output()).not.toMatch(/a request of the console failed/);
});

test('while an account moves, each change of the console is either refused or in the new cell exactly once', async () => {
  const { account, page } = await addOwned('joe@example.com');
  const answers = new Map<string, number>();
  const refusals: unknown[] = [];
  const works: { key: string }[] = [];
  let isMoved = false;
  const loops = [0, 1, 2].map(async (loop) => {
    for (let n = 0, after = 0; after < 5; n += 1) {
      if (isMoved) after += 1;
      const name = `key ${loop} ${n}`;
      const answer = await createKey(page, name);
      answers.set(name, answer.status);
      if (answer.status === 201) works.push(answer.json());
      else refusals.push(answer.json());
      await wait(40);
    }
  });
  await expect.poll(() => works.length).toBeGreaterThan(6);
  await move(account);
  isMoved = true;
  await Promise.all(loops);
  const stored = [...answers].filter(([, status]) => status === 201).map(([name]) => name);
  expect(stored.length).toBeGreaterThan(6);
  for (const refusal of refusals) expect(refusal).toEqual(MOVING);
  expect(await keysIn(now, account)).toEqual(['own', ...stored].toSorted());
  expect(await loggedKeys(account)).toEqual(['own', ...stored].toSorted());
  const left = await keysIn(old, account);
  expect(left.filter((name) => name !== 'own' && !stored.includes(name))).toEqual([]);
  expect(left.length).toBeLessThan(stored.length);
  for (const made of works) expect((await ask(made, 1)).status).toBe(200);
});
