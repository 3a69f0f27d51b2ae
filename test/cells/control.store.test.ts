import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recipientTokenHash } from '../../src/notifications/destinations/recipient-token.ts';
import { generateKey } from '../../src/platform/api-key.ts';
import { type Browser, openBrowser } from '../contract/browser.ts';
import { command, commandJson } from '../contract/command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { actionsIn, addAccount, addMember, type CellAccount, countIn } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

const BASE = 2 ** 44;
const PASSWORD = 'seven quiet otters near the harbour';

let control: TestStore;
let cells: TwoCells;
let service: Service;
let one: CellAccount;
let two: CellAccount;

beforeAll(async () => {
  control = await startTestStore();
  cells = await startTwoCells(control);
  service = await startService(cells.environment, ['--no-monitor']);
  one = await addAccount(cells.environment, 1);
  two = await addAccount(cells.environment, 2);
});

afterAll(async () => {
  await service.stop();
  await cells.stop();
  await control.stop();
});

async function ask(key: string, origin = service.origin): Promise<number> {
  const answer = await fetch(`${origin}/api/v1/health/fleet`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await answer.text();
  return answer.status;
}

/** A new owner of an account, who has joined by a link. */
async function join({ id }: CellAccount, email: string): Promise<Browser> {
  const { linkToken } = await addMember(cells.environment, id, { email, role: 'owner' });
  const browser = openBrowser({ origin: service.origin });
  await browser.change('POST', `/link/${linkToken}`, { password: PASSWORD });
  return browser;
}

async function diagnoses(): Promise<{ about: string; status: string; message: string }[]> {
  const { stdout } = await command(['doctor', '--json'], { environment: cells.environment });
  return JSON.parse(stdout).diagnoses;
}

test('the control store has the directory and no account; each cell has its own', async () => {
  expect([one.id < BASE, two.id]).toEqual([true, BASE + 1]);
  expect([await ask(one.key), await ask(two.key)]).toEqual([200, 200]);
  const { rows } = await control.writer.query(
    'select account_id, cell_id from directory_account where account_id = any($1) order by 2',
    [[one.id, two.id]],
  );
  expect(rows).toEqual([
    { account_id: one.id, cell_id: 1 },
    { account_id: two.id, cell_id: 2 },
  ]);
  for (const table of ['account', 'member', 'api_key', 'activity'])
    expect((await control.writer.query(`select from ${table}`)).rowCount, table).toBe(0);
  for (const { writer } of [cells.first, cells.second])
    expect((await writer.query('select from directory_account')).rowCount).toBe(0);
});

test.each([1, 2])(
  'a member of cell %s signs in, and the login and session are in the control store',
  async (cell) => {
    const [account, home, other] =
      cell === 1 ? [one, cells.first, cells.second] : [two, cells.second, cells.first];
    const email = `ada-${cell}@example.com`;
    const page = await join(account, email);
    await page.change('POST', '/sign-out');
    await page.change('POST', '/sign-in', { email, password: PASSWORD });
    expect(await page.get('/me')).toMatchObject({ login: { email }, account: { id: account.id } });
    const made = await page.change<{ key: string }>('POST', '/keys', { name: 'new', expires_in: null });
    expect(await ask(made.key)).toBe(200);
    expect((await control.writer.query('select from login where email = $1', [email])).rowCount).toBe(1);
    expect(await countIn(control, 'session')).toBeGreaterThan(0);
    for (const store of [cells.first, cells.second])
      for (const table of ['login', 'session'] as const) expect(await countIn(store, table), table).toBe(0);
    expect((await actionsIn(home, account.id)).slice(-2)).toEqual(['member_signed_in', 'api_key_created']);
    expect(await actionsIn(other, account.id)).toEqual([]);
  },
);

test('account create chooses the emptiest cell, and doctor finds nothing wrong in the three stores', async () => {
  const { environment } = cells;
  const { rows } = await control.writer.query<{ cell_id: number }>(
    'select cell_id from directory_account group by 1 order by count(*), 1 limit 1',
  );
  const { id } = await commandJson<{ id: number }>(
    ['account', 'create', '--name', 'anywhere', '--plan', 'team'],
    { environment },
  );
  expect(Math.floor((id - 1) / BASE) + 1).toBe(rows[0]?.cell_id);
  const found = await diagnoses();
  const messages = found.map(({ message }) => message);
  expect(messages).toContain('The directory has every account and every valid key of the cells that answer.');
  expect(messages.filter((message) => /PostgreSQL .* answers/.test(message))).toHaveLength(3);
  expect(found.filter(({ status }) => status === 'error')).toEqual([]);
});

/** Makes a confirmed recipient of a new destination. Returns the token in the links of its mails. */
async function addRecipient({ writer }: TestStore, { id }: CellAccount, email: string): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const { rows } = await writer.query(
    `insert into destination (account_id, name, channel, target, settings, kinds, state_since, created_at)
     values ($1, 'Mail', 'email', $2, '{}', '{}', now(), now()) returning destination_id`,
    [id, email],
  );
  await writer.query(
    `insert into destination_recipient (account_id, destination_id, email, state, token_hash, asked_at, confirmed_at)
     values ($1, $2, $3, 'confirmed', $4, now(), now())`,
    [id, rows[0].destination_id, email, recipientTokenHash(token)],
  );
  return token;
}

test('a cell that was down learns who has unsubscribed meanwhile, and leaves who confirmed after that', async () => {
  const email = 'gone@example.com';
  const [here, there] = [
    await addRecipient(cells.first, one, email),
    await addRecipient(cells.second, two, email),
  ];
  const statesIn = async ({ writer }: TestStore) => {
    const select = 'select state from destination_recipient where email = $1 order by destination_id';
    return (await writer.query(select, [email])).rows.map(({ state }) => state);
  };
  const answer = (token: string, what: string) =>
    fetch(`${service.origin}/console/api/email/${token}/${what}`, {
      method: 'POST',
      headers: { origin: service.origin },
    });
  await cells.second.halt();
  try {
    expect((await answer(here, 'unsubscribe')).status).toBe(200);
    expect(await statesIn(cells.first)).toEqual(['unsubscribed']);
  } finally {
    await cells.second.start();
  }
  await expect.poll(() => statesIn(cells.second).catch(() => [])).toEqual(['unsubscribed']);
  expect(await actionsIn(cells.second, two.id)).toContain('recipient_unsubscribed');
  // The person may want the messages of this one again.
  await cells.second.writer.query(
    `update destination_recipient set confirmed_at = confirmed_at - interval '1 hour'`,
  );
  expect((await answer(there, 'confirm')).status).toBe(200);
  await setTimeout(12_000); // a round
  expect(await statesIn(cells.second)).toEqual(['confirmed']);
});

test('while the control store is down, known keys work and all else fails clearly; then everything recovers', async () => {
  const page = await join(two, 'eve@example.com');
  const unseen = await addAccount(cells.environment, 2);
  expect([await ask(one.key), await ask(two.key)]).toEqual([200, 200]);
  await control.halt();
  try {
    for (let n = 0; n < 3; n += 1) expect([await ask(one.key), await ask(two.key)]).toEqual([200, 200]);
    expect(await ask(generateKey())).toBe(500);
    expect(await ask(unseen.key)).toBe(500);
    expect((await page.ask('GET', '/me')).status).toBe(500);
    expect((await fetch(`${service.origin}/readyz`)).status).toBe(200);
    const { exit, stderr } = await command(['account', 'create', '--name', 'x', '--plan', 'team'], {
      environment: cells.environment,
    });
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect((await diagnoses()).filter(({ status }) => status === 'error')).not.toEqual([]);
    expect([await ask(one.key), await ask(two.key)]).toEqual([200, 200]);
  } finally {
    await control.start();
  }
  await expect.poll(() => ask(generateKey())).toBe(401);
  expect(await ask(unseen.key)).toBe(200);
  await expect.poll(async () => (await page.ask('GET', '/me')).status).toBe(200);
  const later = await addAccount(cells.environment, 1);
  expect(await ask(later.key)).toBe(200);
});
