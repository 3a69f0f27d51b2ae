import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashToken, newToken } from '../../src/platform/token.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { addAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

let cells: TwoCells;
let service: Service;
/** An account in each cell. */
const accounts: number[] = [];

const PASSWORD = 'seven quiet otters near the harbour';

beforeAll(async () => {
  cells = await startTwoCells();
  service = await startService(cells.environment, ['--no-monitor']);
  for (const cell of [1, 2]) accounts.push((await addAccount(cells.environment, cell)).id);
});

afterAll(async () => {
  await service.stop();
  await cells.stop();
});

/** A browser: its cookies, and requests of a console page. */
function browser() {
  const cookies = new Map<string, string>();
  return async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${service.origin}/console/api${path}`, {
      method,
      headers: {
        origin: service.origin,
        'sec-fetch-site': 'same-origin',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
}

async function linkToken(account: number | undefined): Promise<string> {
  const { link } = await fixtureJson<{ link: string }>(
    ['member', 'link', '--account', String(account)],
    cells.environment,
  );
  return link.split('/').at(-1) ?? '';
}

test.each([1, 2])(
  'an owner of an account in cell %s joins, signs in, changes things and signs out',
  async (cell) => {
    const account = accounts[cell - 1];
    const store = cell === 1 ? cells.first : cells.second;
    const email = `ada-${cell}@example.com`;
    const page = browser();
    const token = await linkToken(account);
    expect((await page('GET', `/link/${token}`)).body).toMatchObject({ account_name: `of cell ${cell}` });
    expect(await page('POST', `/link/${token}`, { name: 'Ada', email, password: PASSWORD })).toMatchObject({
      status: 204,
    });
    expect((await page('GET', `/link/${token}`)).status).toBe(404);
    expect((await page('GET', '/me')).body).toMatchObject({
      login: { email },
      account: { id: account },
      accounts: [{ id: account, name: `of cell ${cell}` }],
    });
    // The login and the session are in the control store, the member and the log in the cell.
    const logins = await cells.first.writer.query('select from login where email = $1', [email]);
    expect(logins.rowCount).toBe(1);
    const elsewhere = await cells.second.writer.query('select from login union all select from session');
    expect(elsewhere.rowCount).toBe(0);
    const joined = await store.writer.query(
      `select action_type from activity where account_id = $1 and action_type in ('member_added', 'member_signed_in') order by id`,
      [account],
    );
    expect(joined.rows.map(({ action_type }) => action_type)).toEqual(['member_added', 'member_signed_in']);

    const made = await page('POST', '/keys', { name: 'from the console', expires_in: null });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const answer = await fetch(`${service.origin}/api/v1/health/fleet`, {
      headers: { authorization: `Bearer ${made.body.key}` },
    });
    expect(answer.status).toBe(200);
    const invited = await page('POST', '/members', {
      name: 'Bo',
      email: `bo-${cell}@example.com`,
      roles: ['viewer'],
    });
    expect(invited.status).toBe(201);
    const other = browser();
    const invitation = invited.body.link.url.split('/').at(-1);
    expect(await other('POST', `/link/${invitation}`, { password: PASSWORD })).toMatchObject({ status: 204 });
    expect((await other('GET', '/me')).body).toMatchObject({ member: { name: 'Bo' } });
    expect((await page('GET', '/sessions')).body.data).toMatchObject([{ account_name: `of cell ${cell}` }]);
    expect((await page('DELETE', `/members/${invited.body.member.id}`)).status).toBe(204);
    expect((await other('GET', '/me')).status).toBe(401);
    const gone = await cells.first.writer.query('select from login where email = $1', [
      `bo-${cell}@example.com`,
    ]);
    expect(gone.rowCount).toBe(0);

    const next = 'eight loud herons over the estuary';
    expect((await page('POST', '/me/password', { current: PASSWORD, next })).status).toBe(204);
    expect((await page('POST', '/sign-out')).status).toBe(204);
    expect((await page('GET', '/me')).status).toBe(401);
    expect((await page('POST', '/sign-in', { email, password: PASSWORD })).status).toBe(401);
    expect((await page('POST', '/sign-in', { email, password: next })).status).toBe(204);
    expect((await page('GET', '/read/health/fleet')).status).toBe(200);
  },
);

test("the owner of a cell can't open the console of another cell's account", async () => {
  const [victim, own] = accounts;
  const hostile = await cells.second.superuser('store');
  // Copies of the victim's account in the hostile cell, with a link and a member of its own.
  await hostile.query(
    `insert into account (account_id, name, kind, plan) overriding system value values ($1, 'trap', 'company', 'enterprise')`,
    [victim],
  );
  await hostile.query('insert into activity_head (account_id) values ($1)', [victim]);
  const token = newToken();
  await hostile.query(
    `insert into link (account_id, token_hash, purpose, expires_at) values ($1, $2, 'owner', now() + interval '1 hour')`,
    [victim, hashToken(token)],
  );
  const page = browser();
  expect((await page('GET', `/link/${token}`)).status).toBe(404);
  expect(
    (await page('POST', `/link/${token}`, { name: 'Eve', email: 'eve@example.com', password: PASSWORD }))
      .status,
  ).toBe(404);
  // A login of the hostile cell's account becomes a "member" of the victim's account there.
  const { rows } = await cells.first.writer.query('select login_id from login where account_id = $1', [own]);
  await hostile.query(
    `insert into member (account_id, name, email, roles, status, joined_at, login_id)
     values ($1, 'Eve', 'eve@example.com', array['owner'], 'active', now(), $2)`,
    [victim, rows[0].login_id],
  );
  const signedIn = await page('POST', '/sign-in', {
    email: 'ada-2@example.com',
    password: 'eight loud herons over the estuary',
  });
  expect(signedIn.status).toBe(204);
  expect((await page('GET', '/me')).body).toMatchObject({ account: { id: own }, accounts: [{ id: own }] });
  expect((await page('POST', '/me/account', { id: victim })).status).toBe(404);
});
