import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Authenticator, type NewQuestion, type Question } from '../contract/authenticator.ts';
import { type Browser, openBrowser } from '../contract/browser.ts';
import { type RunningProvider, signInAt, startSignOn } from '../contract/identity-provider.ts';
import { type Service, startService } from '../contract/running-service.ts';
import { actionsIn, addAccount, addMember, type CellAccount, countIn } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

interface Me {
  login: { email: string; has_password: boolean; passkeys: { name: string }[] };
  account: { id: number };
  accounts: { id: number }[];
  member: { id: number };
}

const PASSWORD = 'seven quiet otters near the harbour';

let cells: TwoCells;
let provider: RunningProvider;
let service: Service;
let origin: string;
let one: CellAccount;
let two: CellAccount;

beforeAll(async () => {
  cells = await startTwoCells();
  const signOn = await startSignOn();
  ({ origin, provider } = signOn);
  service = await startService({ ...cells.environment, ...signOn.settings }, ['--no-monitor']);
  one = await addAccount(cells.environment, 1);
  two = await addAccount(cells.environment, 2);
});

afterAll(async () => {
  await service.stop();
  await provider.close();
  await cells.stop();
});

/** Somebody of the provider. */
function person(): { subject: string; email: string } {
  const subject = `subject-${randomBytes(6).toString('hex')}`;
  const email = `${randomBytes(6).toString('hex')}@example.com`;
  provider.people.set(subject, { email, email_verified: true });
  return { subject, email };
}

/** Signs in by single sign-on. Returns the page that the browser is led to. */
async function signIn(subject: string, browser: Browser): Promise<string | undefined> {
  const begun = await browser.ask('GET', '/sign-in/oidc');
  const [cookie = ''] = /dbvitals_sign_on=[\w.-]*/.exec(begun.headers['set-cookie'] ?? '') ?? [];
  const back = await signInAt(begun.headers['location'] ?? '', subject);
  const answer = await browser.ask('GET', `/sign-in/oidc/callback${back.search}`, undefined, { cookie });
  return answer.headers['location'];
}

/** Opens a link with a password. */
async function join(linkToken: string): Promise<Browser> {
  const browser = openBrowser({ origin });
  await browser.change('POST', `/link/${linkToken}`, { password: PASSWORD });
  return browser;
}

/** The rows of a member's login, by the store that has them. */
async function loginsOf(email: string) {
  const find = 'select login_id, password is not null as password, oidc_subject from login where email = $1';
  const { rows } = await cells.first.writer.query(find, [email]);
  return rows;
}

/** Expects that nothing that belongs to no account is in the cell that is not the control store. */
async function expectNoLoginsInCell2(): Promise<void> {
  for (const table of ['login', 'session', 'passkey'] as const)
    expect(await countIn(cells.second, table), table).toBe(0);
}

const addedActions = async (work: () => Promise<unknown>) => {
  const before = { one: await actionsIn(cells.first, one.id), two: await actionsIn(cells.second, two.id) };
  await work();
  return {
    one: (await actionsIn(cells.first, one.id)).slice(before.one.length),
    two: (await actionsIn(cells.second, two.id)).slice(before.two.length),
  };
};

test('a person joins an account of cell 2 by single sign-on: the login is in the control store, the member and the log in the cell', async () => {
  const { subject, email } = person();
  const { memberId } = await addMember(cells.environment, two.id, { email });
  const browser = openBrowser({ origin });
  const sessions = await countIn(cells.first, 'session');
  const added = await addedActions(async () => {
    expect(await signIn(subject, browser)).toBe('/invitations');
    expect(await browser.get('/invitations')).toMatchObject({ data: [{ account_id: two.id }], acts: false });
    await browser.change('POST', `/invitations/${two.id}/accept`);
  });
  expect(added).toEqual({ one: [], two: ['member_changed', 'member_signed_in'] });
  expect(await browser.get<Me>('/me')).toMatchObject({
    login: { email, has_password: false, passkeys: [] },
    account: { id: two.id },
    member: { id: memberId },
  });
  const [login, ...others] = await loginsOf(email);
  expect([login, others]).toEqual([
    { login_id: expect.any(Number), password: false, oidc_subject: subject },
    [],
  ]);
  expect(await countIn(cells.first, 'session')).toBe(sessions + 1);
  await expectNoLoginsInCell2();
  const members = 'select account_id, status from member where login_id = $1';
  const { rows } = await cells.second.writer.query(members, [login.login_id]);
  expect(rows).toEqual([{ account_id: two.id, status: 'active' }]);
  expect((await cells.first.writer.query(members, [login.login_id])).rows).toEqual([]);

  // From now on the subject is enough.
  const again = await addedActions(async () =>
    expect(await signIn(subject, openBrowser({ origin }))).toBe('/'),
  );
  expect(again).toEqual({ one: [], two: ['member_signed_in'] });
});

test('a person of accounts in both cells switches between them in one session, and leaves one without the other', async () => {
  const { subject, email } = person();
  for (const { id } of [one, two]) await addMember(cells.environment, id, { email, role: 'owner' });
  const browser = openBrowser({ origin });
  await signIn(subject, browser);
  const { data } = await browser.get<{ data: { account_id: number }[] }>('/invitations');
  expect(data.map(({ account_id }) => account_id)).toEqual([one.id, two.id]);
  for (const { account_id } of data) await browser.change('POST', `/invitations/${account_id}/accept`);
  expect(await loginsOf(email)).toHaveLength(1);
  for (const { id } of [two, one, two]) {
    await browser.change('POST', '/me/account', { id });
    const me = await browser.get<Me>('/me');
    expect([me.account.id, me.accounts.map((account) => account.id)]).toEqual([id, [one.id, two.id]]);
    expect((await browser.ask('GET', '/account')).json<{ id: number }>().id).toBe(id);
  }
  await cells.second.writer.query(
    `update member set status = 'suspended' where account_id = $1 and email = $2`,
    [two.id, email],
  );
  expect((await browser.ask('GET', '/me')).status).toBe(401);
  const later = openBrowser({ origin });
  expect(await signIn(subject, later)).toBe('/');
  expect((await later.get<Me>('/me')).accounts.map(({ id }) => id)).toEqual([one.id]);
});

test('a cell that is down stops no member of another one', async () => {
  const { subject, email } = person();
  await addMember(cells.environment, one.id, { email });
  const browser = openBrowser({ origin });
  await signIn(subject, browser);
  await browser.change('POST', `/invitations/${one.id}/accept`);
  const invited = person();
  await addMember(cells.environment, two.id, invited);
  await cells.second.halt();
  try {
    const later = openBrowser({ origin });
    expect(await signIn(subject, later)).toBe('/');
    expect(await later.get('/invitations')).toEqual({ data: [], acts: true });
    // Whether this person is invited is unknown.
    expect(await signIn(invited.subject, openBrowser({ origin }))).toBe('/sign-in?error=failed');
  } finally {
    await cells.second.start();
  }
  await expect.poll(() => signIn(invited.subject, openBrowser({ origin }))).toBe('/invitations');
});

test('six persons sign in by single sign-on at once, while six members of cell 2 join with a password', async () => {
  const people = Array.from({ length: 6 }, person);
  const links: string[] = [];
  for (const [at, { email }] of people.entries()) {
    await addMember(cells.environment, at % 2 === 0 ? one.id : two.id, { email });
    const other = { email: `password-${email}` };
    links.push((await addMember(cells.environment, two.id, other)).linkToken);
  }
  const [pages] = await Promise.all([
    Promise.all(people.map(({ subject }) => signIn(subject, openBrowser({ origin })))),
    Promise.all(links.map(join)),
  ]);
  expect(pages).toEqual(people.map(() => '/invitations'));
});

test('a passkey of a member of cell 2 is in the control store, and signs in; the cell has the log', async () => {
  const email = 'passkey@example.com';
  const { linkToken, memberId } = await addMember(cells.environment, two.id, { email });
  const key = new Authenticator(origin);
  const joined = await addedActions(async () => {
    const browser = await join(linkToken);
    const question = await browser.change<NewQuestion>('POST', '/me/passkeys/options', {});
    await browser.change('POST', '/me/passkeys', { name: 'laptop', response: key.make(question) });
  });
  expect(joined.one).toEqual([]);
  expect(joined.two.slice(-2)).toEqual(['member_signed_in', 'passkey_added']);
  expect(await countIn(cells.first, 'passkey')).toBe(1);
  await expectNoLoginsInCell2();

  const browser = openBrowser({ origin });
  const signedIn = await addedActions(async () => {
    const question = await browser.change<Question>('POST', '/sign-in/passkey/options', {});
    await browser.change('POST', '/sign-in/passkey', { response: key.answer(question) });
  });
  expect(signedIn).toEqual({ one: [], two: ['member_signed_in'] });
  const me = await browser.get<Me & { login: { passkeys: { id: string }[] } }>('/me');
  expect(me).toMatchObject({ login: { email }, account: { id: two.id }, member: { id: memberId } });
  const [passkey] = me.login.passkeys;
  const removed = await addedActions(() => browser.change('DELETE', `/me/passkeys/${passkey?.id}`));
  expect(removed).toEqual({ one: [], two: ['passkey_removed'] });
  expect(await countIn(cells.first, 'passkey')).toBe(0);
  const question = await browser.change<Question>('POST', '/sign-in/passkey/options', {});
  const refused = await browser.ask('POST', '/sign-in/passkey', { response: key.answer(question) });
  expect(refused.status).toBe(401);
});
