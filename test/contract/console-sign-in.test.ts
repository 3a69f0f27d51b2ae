import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeAccount, makeKeylessAccount, makeMember } from './account.ts';
import { readLog } from './activity-log.ts';
import { each } from './ask.ts';
import { type Browser, openBrowser, signInAs } from './browser.ts';
import { command } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Service, startService } from './running-service.ts';

interface Me {
  login: { email: string; name: string; has_password: boolean };
  account: { id: number; name: string };
  accounts: { id: number; name: string }[];
  member: { id: number; roles: string[] };
  permissions: string[];
}

const PASSWORD = 'a password of this file';

// Behind a trusted proxy, so that what fails is counted for addresses of this file alone. It logs all that it can.
let service: Service;
let store: pg.Client;
const secrets = new Set([PASSWORD]);

beforeAll(async () => {
  const settings = { ...inject('sharedStore'), LOG_LEVEL: 'trace', DBVITALS_TRUST_PROXY: '127.0.0.1' };
  service = await startService(settings, ['--no-monitor']);
  store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
  await store.connect();
});

afterAll(async () => {
  await store.end();
  await service.stop();
});

let clients = 0;

/** A browser at an address of its own. */
function browse(headers: Record<string, string> = {}): Browser {
  clients += 1;
  const address = { 'x-forwarded-for': `198.51.100.${clients}` };
  return openBrowser({ origin: service.origin, headers: { ...address, ...headers } });
}

async function invite(accountId: number, email = `${crypto.randomUUID()}@example.com`) {
  const { memberId, linkToken } = await makeMember({ accountId, name: 'Ada', email, roles: ['viewer'] });
  secrets.add(linkToken);
  return { memberId, linkToken, email };
}

/** Somebody who opened the link of an invitation; the password is {@link PASSWORD}. */
async function join(accountId: number, browser = browse()) {
  const invited = await invite(accountId);
  await browser.change('POST', `/link/${invited.linkToken}`, { password: PASSWORD });
  return { ...invited, browser };
}

function linkOf({ link }: { link: string }): string {
  const token = /\/link\/([\w-]{43})$/.exec(link)?.[1] ?? '';
  secrets.add(token);
  return token;
}

const signIn = (browser: Browser, email: string, password = PASSWORD) =>
  browser.ask('POST', '/sign-in', { email, password });

test('the operator’s link creates an owner and signs them in', async () => {
  const account = await makeAccount();
  const made = await fixtureJson<{ link: string; purpose: string; expires_at: string }>([
    'member',
    'link',
    '--account',
    String(account.id),
    '--url',
    service.origin,
  ]);
  expect(made.purpose).toBe('owner');
  expect(Date.parse(made.expires_at) - Date.now()).toBeGreaterThan(86_300_000);
  const token = linkOf(made);
  const browser = browse();
  expect(await browser.get(`/link/${token}`)).toEqual({
    purpose: 'owner',
    account_name: 'Contract suite',
    email: null,
    name: null,
    signed_in: false,
    session_email: null,
  });
  const email = `Owner-${token.slice(0, 6)}@Example.com`;
  for (const body of [
    { email, password: PASSWORD },
    { name: ' ', email, password: PASSWORD },
    { name: 'Ada', password: PASSWORD },
    { name: 'Ada', email: 'ada', password: PASSWORD },
    { name: 'Ada', email: 'ada\0@example.com', password: PASSWORD },
    { name: 'A\0da', email, password: PASSWORD },
    { name: 'A\u001b[2Jda', email, password: PASSWORD },
    { name: 'A\ud800da', email, password: PASSWORD },
    { name: 'Ada', email: 'ada\ud800@example.com', password: PASSWORD },
    { name: 'Ada', email, password: 'too short' },
    { name: 'Ada', email, password: 'password1234' },
    { name: 'Ada', email, password: 'aaaaaaaaaaaa' },
    { name: 'Ada', email, password: email },
    { name: 'Ada Lovelace', email, password: 'Ada Lovelace' },
    { name: 'Ada', email, password: 'contract suite' },
    { name: 'Ada', email, password: 'x'.repeat(201) },
    { name: 'Ada', email },
    { name: 'Ada', email, password: PASSWORD, roles: ['owner'] },
  ]) {
    const answer = await browser.ask('POST', `/link/${token}`, body);
    expect(answer.status, JSON.stringify(body)).toBe(400);
    expect(answer.json()).toMatchObject({
      error: {
        parameter: expect.any(String),
        message: expect.stringMatching(/^(Enter|Choose|There is no such) /),
      },
    });
  }
  await browser.change('POST', `/link/${token}`, { name: 'Ada', email, password: PASSWORD });
  const me = await browser.get<Me>('/me');
  expect(me).toMatchObject({
    login: { email, name: 'Ada', has_password: true },
    account: { id: account.id, name: 'Contract suite', kind: 'company', plan: 'enterprise' },
    accounts: [{ id: account.id, name: 'Contract suite' }],
    member: { roles: ['owner'] },
  });
  expect(me.permissions).toContain('account:write');
  const log = await readLog(account.key);
  const own = log.filter(({ action_type }) => /member|link/.test(action_type));
  expect(own.map(({ action_type }) => action_type)).toEqual([
    'link_created',
    'member_added',
    'link_used',
    'member_signed_in',
  ]);
  expect(own.map(({ page_path }) => page_path)).toEqual(['/team', '/link', '/link', '/sign-in']);
  expect(own.at(-1)?.properties).toMatchObject({ member_id: me.member.id, name: 'Ada', by: 'link' });
  expect(JSON.stringify(log)).not.toContain(token);
});

test('a link works once, and not after it expired or was replaced', async () => {
  const account = await makeKeylessAccount();
  const { linkToken, browser } = await join(account);
  const another = browse();
  const use = async (token: string) => {
    const body = { name: 'Eve', email: 'eve@example.com', password: PASSWORD };
    const answers = [
      await another.ask('GET', `/link/${token}`),
      await another.ask('POST', `/link/${token}`, body),
    ];
    return answers.map(({ status }) => status);
  };
  expect(await use(linkToken)).toEqual([404, 404]);
  const late = await invite(account);
  await store.query(`update link set expires_at = clock_timestamp() where member_id = $1`, [late.memberId]);
  expect(await use(late.linkToken)).toEqual([404, 404]);
  const older = await invite(account);
  const newer = await fixtureJson<{ link: string }>([
    'member',
    'link',
    '--account',
    String(account),
    '--member',
    String(older.memberId),
  ]);
  expect(await use(older.linkToken)).toEqual([404, 404]);
  expect(await use(linkOf(newer))).toEqual([200, 204]);
  for (const token of ['x', 'A'.repeat(43), `${linkToken}%00`]) expect(await use(token)).toEqual([404, 404]);
  expect((await browser.get<Me>('/me')).account.id).toBe(account);
});

test('when many open one link at once, one gets in', async () => {
  const account = await makeKeylessAccount();
  const made = await fixtureJson<{ link: string }>(['member', 'link', '--account', String(account)]);
  const token = linkOf(made);
  const statuses = await each([1, 2, 3, 4, 5, 6], 6, async (number) => {
    const body = { name: 'Ada', email: `${number}-${token.slice(0, 9)}@example.com`, password: PASSWORD };
    return (await browse().ask('POST', `/link/${token}`, body)).status;
  });
  expect(statuses.toSorted()).toEqual([204, 404, 404, 404, 404, 404]);
  const { rows } = await store.query('select name from member where account_id = $1', [account]);
  expect(rows).toEqual([{ name: 'Ada' }]);
});

test('a link for a stranger’s address reveals nothing about them and gives access to nothing of theirs', async () => {
  const [company, tenant] = [await makeAccount(), await makeAccount()];
  const victim = await join(company.id);
  const known = await invite(tenant.id, victim.email.toUpperCase());
  const unknown = await invite(tenant.id);
  const stranger = browse();
  // What is asked and answered is the same for an address that signs in elsewhere and for one that nobody has.
  const shown = [];
  for (const { email, linkToken } of [known, unknown]) {
    const link = await stranger.get<{ email: string }>(`/link/${linkToken}`);
    expect(link.email).toBe(email);
    shown.push({ ...link, email: null }, (await stranger.ask('POST', `/link/${linkToken}`, {})).text);
  }
  expect(shown.slice(0, 2)).toEqual(shown.slice(2));
  // Who is signed in with the address is not recognised either: they have not proved it.
  expect(await victim.browser.get(`/link/${known.linkToken}`)).toMatchObject({
    signed_in: false,
    session_email: victim.email,
  });

  const theirs = 'a password of the tenant';
  secrets.add(theirs);
  const opened = await each([known, unknown], 1, ({ linkToken }) =>
    browse().ask('POST', `/link/${linkToken}`, { password: theirs }),
  );
  expect(opened.map(({ status, text }) => [status, text])).toEqual([
    [204, ''],
    [204, ''],
  ]);
  // Each password leads to its own account, and to nothing of the other.
  const accountsBy = async (password: string) => {
    const browser = browse();
    expect((await signIn(browser, victim.email, password)).status).toBe(204);
    return (await browser.get<Me>('/me')).accounts.map(({ id }) => id);
  };
  expect(await accountsBy(PASSWORD)).toEqual([company.id]);
  expect(await accountsBy(theirs)).toEqual([tenant.id]);
  expect((await victim.browser.ask('POST', '/me/account', { id: tenant.id })).status).toBe(404);

  // A later link of the victim's company asks for a password of their own, never for the tenant's.
  const { linkToken } = await invite((await makeAccount()).id, unknown.email);
  const person = browse();
  expect(await person.get(`/link/${linkToken}`)).toMatchObject({ signed_in: false });
  await person.change('POST', `/link/${linkToken}`, { password: 'a password of the person' });
  expect((await signIn(browse(), unknown.email, 'a password of the person')).status).toBe(204);
});

test('with one address and password in several accounts, the person chooses after the password is verified', async () => {
  const [one, other] = [await makeKeylessAccount(), await makeKeylessAccount()];
  const { email } = await join(one);
  const second = await invite(other, email);
  await browse().change('POST', `/link/${second.linkToken}`, { password: PASSWORD });
  const browser = browse();
  const asked = await signIn(browser, email);
  expect([asked.status, asked.json<{ error: object }>().error]).toEqual([
    409,
    {
      code: 'choose_account',
      message: expect.any(String),
      accounts: [one, other].toSorted((a, b) => a - b).map((id) => ({ id, name: 'Contract suite' })),
    },
  ]);
  expect(browser.cookie()).toBeNull();
  const choose = (account_id: number, password = PASSWORD) =>
    browser.ask('POST', '/sign-in', { email, password, account_id });
  expect((await choose(await makeKeylessAccount())).status).toBe(401);
  expect((await choose(other, 'wrong wrong wrong')).status).toBe(401);
  expect((await choose(other)).status).toBe(204);
  expect((await browser.get<Me>('/me')).accounts.map(({ id }) => id)).toEqual([other]);
  // One hash is computed for the address, however many accounts have it: their salt is one.
  const { rows } = await store.query<{ salt: string }>(
    `select distinct split_part(password, '$', 5) as salt from login where email = $1`,
    [email],
  );
  expect(rows).toHaveLength(1);
});

test('the same address gives no access: only an opened link connects a login to a member', async () => {
  const account = await makeKeylessAccount();
  const { email, browser } = await join(account);
  const other = await makeKeylessAccount();
  const member = ['--name', 'Ada', '--email', email, '--role', 'owner'];
  await fixtureJson(['member', 'add', '--account', String(other), ...member]);
  expect((await browser.get<Me>('/me')).accounts.map(({ id }) => id)).toEqual([account]);
  expect((await browser.ask('POST', '/me/account', { id: other })).status).toBe(404);
});

test('a reset link sets a new password and ends all sessions', async () => {
  const account = await makeKeylessAccount();
  const { memberId, email, browser } = await join(account);
  const made = await fixtureJson<{ link: string; purpose: string }>([
    'member',
    'link',
    '--account',
    String(account),
    '--member',
    String(memberId),
  ]);
  expect(made.purpose).toBe('reset');
  const again = browse();
  const password = 'the next password';
  secrets.add(password);
  expect(await again.get(`/link/${linkOf(made)}`)).toMatchObject({
    purpose: 'reset',
    email,
  });
  await again.change('POST', `/link/${linkOf(made)}`, { password });
  expect((await browser.ask('GET', '/me')).status).toBe(401);
  expect((await again.get<Me>('/me')).login.email).toBe(email);
  expect((await signIn(browse(), email)).status).toBe(401);
  expect((await signIn(browse(), email, password)).status).toBe(204);
});

test("a company’s reset link changes only its own member's password, and reveals no other account", async () => {
  const account = await makeKeylessAccount();
  const owner = await signInAs(account, ['owner'], { origin: service.origin });
  const { memberId, email } = await join(account);
  const elsewhere = await invite(await makeKeylessAccount(), email);
  const other = 'the password elsewhere';
  secrets.add(other);
  const abroad = browse();
  await abroad.change('POST', `/link/${elsewhere.linkToken}`, { password: other });
  const made = await owner.change<{ url: string; purpose: string }>('POST', `/members/${memberId}/link`);
  expect(made.purpose).toBe('reset');
  await browse().change('POST', `/link/${linkOf({ link: made.url })}`, { password: 'another password' });
  expect((await signIn(browse(), email)).status).toBe(401);
  expect((await signIn(browse(), email, other)).status).toBe(204);
  expect((await abroad.ask('GET', '/me')).status).toBe(200);
});

test('the cookie is limited to this host, and over https to https', async () => {
  const { email } = await join(await makeKeylessAccount());
  const plain = browse();
  const cookies = async (browser: Browser) => {
    const set = (await signIn(browser, email)).headers['set-cookie']?.split(', ') ?? [];
    return { device: set[0], session: set[1], more: set.slice(2) };
  };
  expect(await cookies(plain)).toEqual({
    device: expect.stringMatching(
      /^dbvitals_device=\d+~[\w-]{22}~[\w-]{43}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict$/,
    ),
    session: expect.stringMatching(
      /^dbvitals_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    ),
    more: [],
  });
  const secure = browse({ 'x-forwarded-proto': 'https' });
  expect(await cookies(secure)).toMatchObject({
    device: expect.stringMatching(/^__Host-dbvitals_device=.*; HttpOnly; SameSite=Strict; Secure$/),
    session: expect.stringMatching(
      /^__Host-dbvitals_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    ),
  });
  expect((await secure.get<Me>('/me')).login.email).toBe(email);
  // What plain http could have planted is not believed over https.
  const planted = await browse({ 'x-forwarded-proto': 'https' }).ask('GET', '/me', undefined, {
    cookie: plain.cookie() ?? '',
  });
  expect(planted.status).toBe(401);
  const twice = `${plain.cookie()}; ${plain.cookie()}`;
  expect((await browse().ask('GET', '/me', undefined, { cookie: twice })).status).toBe(401);
});

test('changes need the page’s own origin and a content type that a form cannot send', async () => {
  const { browser } = await join(await makeKeylessAccount());
  const { origin } = service;
  const change = async (headers: Record<string, string | undefined>) => {
    const answer = await browser.ask('POST', '/me/password', {}, { origin: undefined, ...headers });
    return [answer.status, answer.json<{ error: { code: string } }>().error.code];
  };
  const refused = [403, 'forbidden'];
  expect(await change({ origin })).toEqual([400, 'invalid_parameter']);
  expect(await change({ 'sec-fetch-site': 'same-origin' })).toEqual([400, 'invalid_parameter']);
  for (const site of ['same-site', 'cross-site', 'none']) {
    expect(await change({ 'sec-fetch-site': site }), site).toEqual(refused);
  }
  for (const strange of ['https://evil.example', 'null', origin.replace('http', 'https'), `${origin}0`, '']) {
    expect(await change({ origin: strange, 'sec-fetch-site': 'same-origin' }), strange).toEqual(refused);
  }
  expect(await change({})).toEqual(refused);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    expect(await change({ origin, 'content-type': type }), type).toEqual(refused);
  }
});

test('a wrong address and a wrong password get the same answer, and the failure is logged in the member’s account', async () => {
  const account = await makeAccount();
  const { email, memberId } = await join(account.id);
  const browser = browse();
  const [known, unknown] = [
    await signIn(browser, email, 'wrong wrong wrong'),
    await signIn(browser, 'nobody@example.com', 'wrong wrong wrong'),
  ];
  expect(known.status).toBe(401);
  expect(unknown.text).toBe(known.text);
  expect(browser.cookie()).toBeNull();
  await expect
    .poll(async () => (await readLog(account.key)).map(({ action_type }) => action_type))
    .toContain('member_sign_in_failed');
  const log = await readLog(account.key);
  const failed = log.find(({ action_type }) => action_type === 'member_sign_in_failed');
  expect(failed?.properties).toMatchObject({
    actor: 'unknown',
    member_id: memberId,
    source_ip: `198.51.100.${clients}`,
  });
  expect(failed?.properties).not.toHaveProperty('actor_member_id');
});

test('ten failures per client and e-mail address, however it is spelled', async () => {
  const account = await makeKeylessAccount();
  const { email } = await join(account);
  const { email: other } = await join(account);
  const guesser = browse();
  // All at once: none slips through between another's count and its own.
  const statuses = await each(
    Array.from({ length: 14 }, (_, at) => at),
    14,
    async (at) => {
      return (await signIn(guesser, at % 2 === 0 ? email : email.toUpperCase(), 'wrong wrong wrong')).status;
    },
  );
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  const refused = await signIn(guesser, email);
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(800);
  expect(seconds).toBeLessThanOrEqual(900);
  expect(refused.json<{ error: object }>().error).toMatchObject({
    code: 'too_many_attempts',
    message: expect.stringMatching(/\. Try again in 1[45] minutes, /),
    retry_after: seconds,
  });
  expect((await signIn(guesser, other)).status).toBe(204);
  // Its owner is somewhere else.
  expect((await signIn(browse(), email)).status).toBe(204);
  await store.query(`update sign_in_failure set at = at - interval '15 minutes'`);
  expect((await signIn(guesser, email)).status).toBe(204);
});

test('a spelling that only other programs fold to the address counts as another address', async () => {
  const account = await makeKeylessAccount();
  const email = `kiosk-admin-${crypto.randomUUID()}@example.com`;
  const { linkToken } = await invite(account, email);
  await browse().change('POST', `/link/${linkToken}`, { password: PASSWORD });
  const spellings = ['i', 's', 'k'].map((letter, at) =>
    email.replace(letter, '\u0130\u017f\u212a'[at] ?? ''),
  );
  expect(new Set([email, ...spellings]).size).toBe(4);
  for (const spelling of [...spellings, ...spellings.map((text) => text.toUpperCase())]) {
    const { status } = await signIn(browse(), spelling);
    // What JavaScript makes of it in upper case may be plain ASCII again: then it is the address.
    expect([spelling, status]).toEqual([
      spelling,
      spelling.toLowerCase() === email && /^[\0-\x7f]*$/.test(spelling) ? 204 : 401,
    ]);
  }
});

test("strangers' guesses do not lock a person out at a known device", async () => {
  const { email, browser: laptop } = await join(await makeKeylessAccount());
  const { browser: stranger } = await join(await makeKeylessAccount());
  await laptop.change('POST', '/sign-out');
  // Fifty within the hour, from everywhere: each would take a core for some time.
  await store.query(
    `insert into sign_in_failure (address, email_hash)
     select '192.0.2.0'::inet + n, sha256(convert_to($1, 'UTF8')) from generate_series(1, 50) n`,
    [email],
  );
  const refused = await signIn(browse(), email);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
  expect((await signIn(laptop, email)).status).toBe(204);
  // Being known for one login is nothing for another, and what is made up is nothing at all.
  const forged = (laptop.device() ?? '').replace(/~[\w-]{43}/, `~${'A'.repeat(43)}`);
  for (const cookie of [stranger.device() ?? '', forged]) {
    const answer = await browse().ask('POST', '/sign-in', { email, password: PASSWORD }, { cookie });
    expect(answer.status).toBe(429);
  }
  // A known device has ten of its own.
  const statuses = await each([...Array(12).keys()], 12, async () => {
    return (await signIn(laptop, email, 'wrong wrong wrong')).status;
  });
  expect(statuses.toSorted()).toEqual([...Array(10).fill(401), 429, 429]);
  await store.query(`update sign_in_failure set at = at - interval '15 minutes' where device is not null`);
  // A new password makes it unknown.
  const before = laptop.device() ?? '';
  expect((await signIn(laptop, email)).status).toBe(204);
  const next = 'the password after the guesses';
  secrets.add(next);
  await laptop.change('POST', '/me/password', { current: PASSWORD, next });
  const old = await browse().ask('POST', '/sign-in', { email, password: next }, { cookie: before });
  expect(old.status).toBe(429);
  expect((await signIn(laptop, email, next)).status).toBe(204);
});

test('a login in another account with a stranger’s address cannot be used to guess their password', async () => {
  const { email } = await join(await makeKeylessAccount());
  const ownLogin = async (password: string) => {
    const account = await makeKeylessAccount();
    const { linkToken } = await invite(account, email);
    const browser = browse();
    await browser.change('POST', `/link/${linkToken}`, { password });
    return { account, browser };
  };
  // At a known device nothing but its own login is looked at, even when the guess is right.
  const lucky = await ownLogin(PASSWORD);
  expect((await signIn(lucky.browser, email)).status).toBe(204);
  expect((await lucky.browser.get<Me>('/me')).accounts.map(({ id }) => id)).toEqual([lucky.account]);
  // Elsewhere each success at one's own login is a guess at the others, and counted.
  const guess = 'a guess at their password';
  secrets.add(guess);
  await ownLogin(guess);
  const address = { 'x-forwarded-for': '198.51.101.7' };
  const statuses = await each([...Array(12).keys()], 1, async () => {
    const unknown = openBrowser({ origin: service.origin, headers: address });
    return (await signIn(unknown, email, guess)).status;
  });
  expect(statuses).toEqual([...Array(10).fill(204), 429, 429]);
});

test('a failure at a known device is logged in its own account only', async () => {
  const [mine, tenant] = [await makeAccount(), await makeAccount()];
  const { email, browser } = await join(mine.id);
  const { linkToken } = await invite(tenant.id, email);
  await browse().change('POST', `/link/${linkToken}`, { password: 'a password of the tenant' });
  expect((await signIn(browser, email, 'wrong wrong wrong')).status).toBe(401);
  const failures = async (key: string) =>
    (await readLog(key)).filter(({ action_type }) => action_type === 'member_sign_in_failed').length;
  await expect.poll(() => failures(mine.key)).toBe(1);
  expect(await failures(tenant.key)).toBe(0);
});

test('fifty failures per client, whatever the e-mail addresses; IPv6 counts by network', async () => {
  const { email } = await join(await makeKeylessAccount());
  const from = (address: string) =>
    openBrowser({ origin: service.origin, headers: { 'x-forwarded-for': address } });
  // The fifty are put there: each guess takes a core for some time.
  const put = `insert into sign_in_failure (address, email_hash) select $1, sha256(n::text::bytea) from generate_series(1, 49) n`;
  await store.query(put, ['2001:db8:1:2::']);
  expect((await signIn(from('2001:db8:1:2:3::4'), 'nobody@example.com')).status).toBe(401);
  expect((await signIn(from('2001:db8:1:2:ffff::1'), email)).status).toBe(429);
  expect((await signIn(from('2001:db8:1:3::4'), email)).status).toBe(204);
});

test('successful sign-ins are not limited', async () => {
  const { email } = await join(await makeKeylessAccount());
  const browser = browse();
  for (let time = 1; time <= 12; time += 1) expect((await signIn(browser, email)).status).toBe(204);
  // Each sign-in ends the browser's session before it: the invitation's own and one are left.
  const { data } = await browser.get<{ data: unknown[] }>('/sessions');
  expect(data).toHaveLength(2);
});

test('sessions are listed and can be ended from another device', async () => {
  const account = await makeAccount();
  const { email, browser } = await join(account.id);
  const phone = browse({ 'user-agent': 'Phone dbv_live_xyz' });
  await signIn(phone, email);
  interface Session {
    id: number;
    current: boolean;
    source_ip: string;
    user_agent: string;
  }
  const { data } = await browser.get<{ data: Session[] }>('/sessions');
  expect(data.map(({ current }) => current)).toEqual([false, true]);
  expect(data[0]).toMatchObject({
    source_ip: `198.51.100.${clients}`,
    user_agent: 'Phone dbv_live_…',
  });
  const stranger = await join(account.id);
  const id = data[0]?.id ?? 0;
  expect((await stranger.browser.ask('DELETE', `/sessions/${id}`)).status).toBe(404);
  await browser.change('DELETE', `/sessions/${id}`);
  expect((await phone.ask('GET', '/me')).status).toBe(401);
  expect((await browser.ask('DELETE', `/sessions/${id}`)).status).toBe(404);
  for (const wrong of ['0', '-1', 'x', '1e3', '99999999999999999999']) {
    expect((await browser.ask('DELETE', `/sessions/${wrong}`)).status, wrong).toBe(404);
  }
  const cookie = browser.cookie() ?? '';
  await browser.change('POST', '/sign-out');
  expect(browser.cookie()).toBeNull();
  expect((await browser.ask('GET', '/me', undefined, { cookie })).status).toBe(401);
  expect((await browser.ask('POST', '/sign-out')).status).toBe(204);
  const types = (await readLog(account.key)).map(({ action_type }) => action_type);
  expect(types.filter((type) => /session|signed_out/.test(type))).toEqual([
    'session_ended',
    'member_signed_out',
  ]);
});

test("signing out everywhere ends all of the person's sessions and no others, and is logged", async () => {
  const account = await makeAccount();
  const { email, browser } = await join(account.id);
  const [phone, tablet] = [browse(), browse()];
  await signIn(phone, email);
  await signIn(tablet, email);
  const stranger = await join(account.id);
  const { data } = await browser.get<{ data: { id: number }[] }>('/sessions');
  expect(data).toHaveLength(3);
  await browser.change('DELETE', '/sessions');
  expect(browser.cookie()).toBeNull();
  for (const ended of [browser, phone, tablet]) expect((await ended.ask('GET', '/me')).status).toBe(401);
  expect((await stranger.browser.ask('GET', '/me')).status).toBe(200);
  const entries = (await readLog(account.key)).filter(({ action_type }) => action_type === 'session_ended');
  expect(entries.map(({ properties }) => properties)).toEqual([
    expect.objectContaining({
      everywhere: true,
      session_ids: expect.arrayContaining(data.map(({ id }) => id)),
      actor_member_id: expect.any(Number),
    }),
  ]);
});

test.each([
  ['unused for twelve hours', `last_seen_at = last_seen_at - interval '12 hours'`],
  ['thirty days old', `expires_at = clock_timestamp()`],
])('a session that is %s has ended', async (_what, change) => {
  const { email, browser } = await join(await makeKeylessAccount());
  expect((await browser.ask('GET', '/me')).status).toBe(200);
  await store.query(
    `update session set ${change} where login_id = (select login_id from login where email = $1)`,
    [email],
  );
  expect((await browser.ask('GET', '/me')).status).toBe(401);
});

test('a suspended or removed member is signed out at once and cannot sign in', async () => {
  const account = await makeKeylessAccount();
  const { email, memberId, browser } = await join(account);
  await fixtureJson(['member', 'change', String(memberId), '--status', 'suspended']);
  expect((await browser.ask('GET', '/me')).status).toBe(401);
  expect((await signIn(browse(), email)).status).toBe(403);
  const made = await command([
    'member',
    'link',
    '--account',
    String(account),
    '--member',
    String(memberId),
    '--json',
  ]);
  expect((await browse().ask('GET', `/link/${linkOf(JSON.parse(made.stdout))}`)).status).toBe(404);
  await fixtureJson(['member', 'change', String(memberId), '--status', 'active']);
  expect((await signIn(browse(), email)).status).toBe(204);
  await fixtureJson(['member', 'remove', String(memberId)]);
  expect((await browser.ask('GET', '/me')).status).toBe(401);
  expect((await signIn(browse(), email)).status).toBe(401);
});

test('changing a password needs the old one and ends the other sessions', async () => {
  const { email, browser } = await join(await makeKeylessAccount());
  const elsewhere = browse();
  await signIn(elsewhere, email);
  const next = 'the password after that';
  secrets.add(next);
  expect((await browser.ask('POST', '/me/password', { current: 'wrong wrong wrong', next })).status).toBe(
    403,
  );
  expect((await browser.ask('POST', '/me/password', { next })).status).toBe(403);
  expect((await browser.ask('POST', '/me/password', { current: PASSWORD, next: 'short' })).status).toBe(400);
  const weak = await browser.ask('POST', '/me/password', { current: PASSWORD, next: 'password1234' });
  expect([weak.status, weak.json<{ error: object }>().error]).toMatchObject([
    400,
    { parameter: 'next', message: expect.stringMatching(/^Choose a password that is harder to guess, /) },
  ]);
  await browser.change('POST', '/me/password', { current: PASSWORD, next });
  expect((await browser.ask('GET', '/me')).status).toBe(200);
  expect((await elsewhere.ask('GET', '/me')).status).toBe(401);
  expect((await signIn(browse(), email, next)).status).toBe(204);
});

test('a session older than ten minutes must be confirmed before it changes a credential, and a stolen copy ends', async () => {
  const account = await makeKeylessAccount();
  const owner = await signInAs(account, ['owner'], { origin: service.origin });
  const age = () =>
    store.query(
      `update session set proved_at = proved_at - interval '10 minutes'
        where login_id = (select login_id from login where email = $1)`,
      [owner.email],
    );
  await age();
  const invitation = { name: 'Eve', email: `${crypto.randomUUID()}@example.com`, roles: ['owner'] };
  const codeOf = async (path: string, body: object, headers = {}) => {
    const answer = await owner.ask('POST', path, body, headers);
    return answer.status < 300 ? answer.status : answer.json<{ error: { code: string } }>().error.code;
  };
  expect(await codeOf('/members', invitation)).toBe('proof_needed');
  expect(await codeOf('/keys', { name: 'stolen', expires_in: null })).toBe('proof_needed');
  expect(await codeOf('/me/proof', { password: 'wrong wrong wrong' })).toBe('forbidden');
  expect(await codeOf('/members', invitation)).toBe('proof_needed');
  // What needs no proof goes on.
  expect((await owner.ask('GET', '/members')).status).toBe(200);
  const stolen = owner.cookie() ?? '';
  expect(await codeOf('/me/proof', { password: owner.password })).toBe(204);
  expect(owner.cookie()).not.toBe(stolen);
  expect((await owner.ask('GET', '/me', undefined, { cookie: stolen })).status).toBe(401);
  expect(await codeOf('/members', invitation)).toBe(201);
  // Without a password there is nothing to give but a new sign-in.
  await age();
  await store.query('update login set password = null where email = $1', [owner.email]);
  expect(await codeOf('/me/password', { next: 'a password out of nothing' })).toBe('proof_needed');
});

test('wrong confirmations count as failed sign-ins', async () => {
  const { browser, email } = await join(await makeKeylessAccount());
  const thief = browse();
  const cookie = browser.cookie() ?? '';
  const statuses = await each([...Array(12).keys()], 12, async () => {
    const body = { password: 'wrong wrong wrong' };
    return (await thief.ask('POST', '/me/proof', body, { cookie })).status;
  });
  expect(statuses.toSorted()).toEqual([...Array(10).fill(403), 429, 429]);
  expect((await signIn(thief, email)).status).toBe(429);
  expect((await signIn(browser, email)).status).toBe(204);
});

test.each([
  ['{', 400, 'invalid_parameter'],
  ['[]', 400, 'invalid_parameter'],
  ['"x"', 400, 'invalid_parameter'],
  ['', 400, 'invalid_parameter'],
  ['{"email":"a@example.com","password":["x"]}', 400, 'invalid_parameter'],
  ['{"email":"a@example.com","password":"x","__proto__":{"x":1}}', 400, 'invalid_parameter'],
  [`{"email":"a@example.com","password":"${'x'.repeat(70_000)}"}`, 413, 'body_too_large'],
])('an invalid body: %.30s', async (body, status, code) => {
  const answer = await browse().ask('POST', '/sign-in', body);
  expect([answer.status, answer.json<{ error: { code: string } }>().error.code]).toEqual([status, code]);
});

test('unknown paths below /console/api get the error envelope', async () => {
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['GET', ''],
    ['PUT', '/me'],
    ['GET', '/sign-out'],
  ] as const) {
    const answer = await browse().ask(method, path);
    expect([answer.status, answer.json<{ error: { code: string } }>().error.code], path).toEqual([
      404,
      'not_found',
    ]);
  }
});

test('a client cannot forge the caller header that the edge sends to the console', async () => {
  const told = JSON.stringify({ requestId: 'x', address: '192.0.2.9', origin: 'https://evil.example' });
  const answer = await browse().ask(
    'POST',
    '/sign-in',
    {},
    { 'dbvitals-caller': told, origin: 'https://evil.example' },
  );
  expect(answer.status).toBe(403);
});

test('a body that is refused before it is read costs neither its answer nor the session', async () => {
  const owner = await signInAs(await makeKeylessAccount(), ['owner']);
  secrets.add(owner.password);
  const tooMuch = `{"next":"${'x'.repeat(70_000)}"}`;
  const refusals = await each(Array.from({ length: 40 }), 8, async () => [
    (await owner.ask('POST', '/sign-out', {}, { origin: 'https://evil.example' })).status,
    (await owner.ask('POST', '/me/password', tooMuch)).status,
  ]);
  expect(refusals).toEqual(Array(40).fill([403, 413]));
  await owner.change('POST', '/sign-out');
  expect((await owner.ask('GET', '/me')).status).toBe(401);
});

test("none of these secrets is in the service's log at level trace", () => {
  const said = service.output();
  expect(said).toContain('/console/api/link/:token');
  expect([...secrets].filter((secret) => said.includes(secret))).toEqual([]);
  expect(said).not.toMatch(/dbvitals_session/);
});
