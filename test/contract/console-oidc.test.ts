import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { formsOf } from '../support/secret-scan.ts';
import { makeAccount, makeKeylessAccount, makeMember } from './account.ts';
import { readLog } from './activity-log.ts';
import type { Answer } from './ask.ts';
import { Authenticator, type NewQuestion } from './authenticator.ts';
import { type Browser, openBrowser, signInAs } from './browser.ts';
import { freePort } from './free-port.ts';
import { type RunningProvider, signInAt, startProvider, startSignOn } from './identity-provider.ts';
import { type Service, startService } from './running-service.ts';

interface Me {
  login: { email: string; has_password: boolean; passkeys: unknown[] };
  account: { id: number };
  accounts: { id: number }[];
  member: { id: number; roles: string[] };
}

let service: Service;
let provider: RunningProvider;
let store: pg.Client;
let publicUrl: string;
const secrets = new Set<string>();

beforeAll(async () => {
  const signOn = await startSignOn();
  ({ origin: publicUrl, provider } = signOn);
  secrets.add(provider.clientSecret);
  const settings = { ...signOn.settings, LOG_LEVEL: 'trace' };
  service = await startService({ ...inject('sharedStore'), ...settings }, ['--no-monitor']);
  store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
  await store.connect();
});

afterAll(async () => {
  await store.end();
  await service.stop();
  await provider.close();
  const output = service.output();
  for (const secret of secrets) {
    for (const form of formsOf(secret)) expect(output).not.toContain(form);
  }
});

/** Somebody of the provider. */
function person(email = `${randomBytes(6).toString('hex')}@example.com`, email_verified = true) {
  const subject = `subject-${randomBytes(6).toString('hex')}`;
  provider.people.set(subject, { email, email_verified });
  return { subject, email };
}

const invite = (accountId: number, email: string) =>
  makeMember({ accountId, name: 'Ada', email, roles: ['viewer'] });

const browse = () => openBrowser({ origin: publicUrl });

const cookieOf = (answer: Answer) =>
  /dbvitals_sign_on=[\w.-]*/.exec(answer.headers['set-cookie'] ?? '')?.[0] ?? '';

/** Goes to the provider; where it leads back to, and the cookie that goes with it. */
async function go(browser: Browser, subject: string, query = ''): Promise<{ path: string; cookie: string }> {
  const answer = await browser.ask('GET', `/sign-in/oidc${query}`);
  expect(answer.status).toBe(302);
  const cookie = cookieOf(answer);
  secrets.add(cookie.slice(cookie.indexOf('=') + 1));
  const back = await signInAt(answer.headers['location'] ?? '', subject);
  expect(back.href.startsWith(`${publicUrl}/console/api/sign-in/oidc/callback?`)).toBe(true);
  const code = back.searchParams.get('code');
  if (code !== null) secrets.add(code);
  return { path: `/sign-in/oidc/callback${back.search}`, cookie };
}

/** Signs in; where the browser is led to in the end. */
async function signIn(subject: string, browser = browse()): Promise<string | undefined> {
  const { path, cookie } = await go(browser, subject);
  const answer = await browser.ask('GET', path, undefined, { cookie });
  expect(answer.status).toBe(302);
  expect(cookieOf(answer)).toBe('dbvitals_sign_on=');
  return answer.headers['location'];
}

interface Invitations {
  data: { account_id: number; account_name: string; roles: string[]; joined: boolean }[];
  acts: boolean;
}

/** Accepts all that a person is invited to. */
async function acceptAll(browser: Browser): Promise<number[]> {
  const { data } = await browser.get<Invitations>('/invitations');
  for (const { account_id } of data) await browser.change('POST', `/invitations/${account_id}/accept`);
  return data.map(({ account_id }) => account_id);
}

/** Signs in, is led to the invitations, and accepts them. */
async function join(subject: string, browser = browse()): Promise<Browser> {
  expect(await signIn(subject, browser)).toBe('/invitations');
  await acceptAll(browser);
  return browser;
}

async function loginsOf(email: string) {
  const { rows } = await store.query('select email, password, oidc_subject from login where email = $1', [
    email,
  ]);
  return rows;
}

test('an invited person sees the inviting accounts and joins those that they accept', async () => {
  const [first, second, third] = [await makeAccount(), await makeAccount(), await makeKeylessAccount()];
  const { subject, email } = person();
  const { memberId } = await invite(first.id, email.toUpperCase());
  const { memberId: declined } = await invite(second.id, email);
  const { memberId: suspended } = await invite(third, email);
  // As the console invites; "member add" makes active members.
  await store.query(`update member set status = 'invited' where member_id = any ($1)`, [
    [memberId, declined],
  ]);
  await store.query(`update member set status = 'suspended' where member_id = $1`, [suspended]);
  const browser = browse();
  expect(await browser.get('/sign-in')).toEqual({ oidc: true });
  expect(await signIn(subject, browser)).toBe('/invitations');
  // Asked, not joined: the session acts nowhere.
  expect((await browser.ask('GET', '/me')).status).toBe(401);
  const offer = { account_name: 'Contract suite', roles: ['viewer'], joined: false };
  expect(await browser.get('/invitations')).toEqual({
    data: [first.id, second.id].map((account_id) => ({ account_id, ...offer })),
    acts: false,
  });
  const { rows } = await store.query(
    'select distinct status, login_id from member where member_id = any ($1)',
    [[memberId, declined]],
  );
  expect(rows).toEqual([{ status: 'invited', login_id: null }]);
  for (const nowhere of [third, (await makeAccount()).id, 999_999_999]) {
    expect((await browser.ask('POST', `/invitations/${nowhere}/accept`)).status).toBe(404);
  }
  await browser.change('POST', `/invitations/${second.id}/decline`);
  await browser.change('POST', `/invitations/${first.id}/accept`);
  expect(await browser.get('/invitations')).toEqual({ data: [], acts: true });
  const me = await browser.get<Me>('/me');
  expect(me.login).toMatchObject({ email, has_password: false, single_sign_on: true, passkeys: [] });
  expect(me.accounts.map(({ id }) => id)).toEqual([first.id]);
  expect(me.member).toMatchObject({ roles: ['viewer'] });
  const told = (await readLog(first.key)).filter(({ action_type }) =>
    /^member_(changed|signed_in)$/.test(action_type),
  );
  expect(
    told.map(({ action_type, properties }) => [action_type, properties['member_id'], properties['by']]),
  ).toEqual([
    ['member_changed', memberId, 'oidc'],
    ['member_signed_in', memberId, 'oidc'],
  ]);
  expect(told[0]?.properties).toMatchObject({
    status: 'active',
    changed: ['login'],
    actor_member_id: memberId,
    source_ip: '127.0.0.1',
  });
  const removed = (await readLog(second.key)).at(-1);
  expect(removed).toMatchObject({
    action_type: 'member_removed',
    properties: { member_id: declined, declined: true, actor_member_id: declined },
  });

  // From now on the subject says who it is, whatever becomes of the address; a later invitation needs the address.
  const fourth = await makeKeylessAccount();
  await invite(fourth, email);
  provider.people.set(subject, { email: 'another@example.com', email_verified: false });
  const again = browse();
  expect(await signIn(subject, again)).toBe('/');
  expect((await again.get<Me>('/me')).login.email).toBe(email);
  expect(await again.get('/invitations')).toEqual({ data: [], acts: true });
  expect((await again.ask('POST', `/invitations/${fourth}/accept`)).status).toBe(404);
  provider.people.set(subject, { email, email_verified: true });
  const joined = await join(subject);
  expect((await joined.get<Me>('/me')).accounts.map(({ id }) => id)).toContain(fourth);
});

test('a single sign-on member has no password and gets no reset link', async () => {
  const account = await makeKeylessAccount();
  const { subject, email } = person();
  const { memberId, linkToken } = await invite(account, email);
  const browser = await join(subject);
  const answer = await browser.ask('POST', '/me/password', { next: 'a password of my own choice' });
  expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('identity provider')]);
  const owner = await signInAs(account, ['owner'], { origin: publicUrl });
  expect((await owner.ask('POST', `/members/${memberId}/link`)).status).toBe(409);
  // The link that invited them is good for nothing any more.
  expect((await browse().ask('GET', `/link/${linkToken}`)).status).toBe(404);
});

test('a link joins the signed-in person whose address the provider has just verified', async () => {
  const { subject, email } = person();
  await invite(await makeKeylessAccount(), email);
  const browser = await join(subject);
  const later = await makeKeylessAccount();
  const { linkToken, memberId } = await invite(later, email);
  expect(await browse().get(`/link/${linkToken}`)).toMatchObject({ signed_in: false });
  expect(await browser.get(`/link/${linkToken}`)).toMatchObject({ signed_in: true });
  await store.query(
    `update session set proved_at = proved_at - interval '10 minutes'
      where login_id = (select login_id from login where email = $1)`,
    [email],
  );
  expect(await browser.get(`/link/${linkToken}`)).toMatchObject({ signed_in: false });
  const stale = await browser.ask('POST', `/invitations/${later}/accept`);
  expect(stale.json()).toMatchObject({ error: { code: 'proof_needed' } });
  const fresh = browse();
  expect(await signIn(subject, fresh)).toBe('/invitations');
  await fresh.change('POST', `/link/${linkToken}`, {});
  expect(await fresh.get<Me>('/me')).toMatchObject({ account: { id: later }, member: { id: memberId } });
  expect((await fresh.get<Me>('/me')).accounts).toHaveLength(2);
});

test('an address that no account invited cannot sign in, and nothing is created', async () => {
  const { subject, email } = person();
  const browser = browse();
  expect(await signIn(subject, browser)).toBe('/sign-in?error=not_invited');
  expect(browser.cookie()).toBeNull();
  expect(await loginsOf(email)).toEqual([]);
});

test('an unverified address, or one that only looks alike, matches no member', async () => {
  const account = await makeKeylessAccount();
  const { subject, email } = person(undefined, false);
  await invite(account, email);
  expect(await signIn(subject)).toBe('/sign-in?error=unverified');
  // U+212A, KELVIN SIGN, is a k in lower case.
  const { email: latin } = person(`k${randomBytes(6).toString('hex')}@example.com`);
  await invite(account, latin);
  const { subject: stranger } = person(latin.replace('k', '\u212a'));
  expect(await signIn(stranger)).toBe('/sign-in?error=not_invited');
  expect(await loginsOf(latin)).toEqual([]);
});

test("Microsoft's claim for verified domains is accepted", async () => {
  const { subject, email } = person();
  provider.people.set(subject, { email, xms_edov: '0' });
  await invite(await makeKeylessAccount(), email);
  expect(await signIn(subject)).toBe('/sign-in?error=unverified');
  provider.people.set(subject, { email, xms_edov: true });
  expect(await signIn(subject)).toBe('/invitations');
});

test("when a person accepts, the member's password, passkeys and sessions from the link end", async () => {
  const account = await makeAccount();
  const earlier = await signInAs(account.id, ['operator'], { origin: publicUrl });
  const key = new Authenticator(publicUrl);
  const question = await earlier.change<NewQuestion>('POST', '/me/passkeys/options', {});
  await earlier.change('POST', '/me/passkeys', { name: 'x', response: key.make(question) });
  const { subject } = person(earlier.email);
  const browser = browse();
  expect(await signIn(subject, browser)).toBe('/invitations');
  expect((await browser.get<Invitations>('/invitations')).data).toMatchObject([{ joined: true }]);
  expect((await browser.ask('POST', `/invitations/${account.id}/decline`)).status).toBe(404);
  expect((await earlier.ask('GET', '/me')).status).toBe(200);
  await acceptAll(browser);
  expect(await browser.get<Me>('/me')).toMatchObject({
    login: { email: earlier.email, has_password: false, passkeys: [] },
    member: { id: earlier.memberId, roles: ['operator'] },
  });
  expect((await earlier.ask('GET', '/me')).status).toBe(401);
  const { email, password } = earlier;
  expect((await browse().ask('POST', '/sign-in', { email, password })).status).toBe(401);
  const changed = (await readLog(account.key)).filter(({ action_type }) => action_type === 'member_changed');
  expect(changed.at(-1)?.properties).toMatchObject({
    member_id: earlier.memberId,
    changed: ['login'],
    by: 'oidc',
  });
});

test('an address reassigned to another person does not give access to the first one’s accounts', async () => {
  const account = await makeKeylessAccount();
  const { subject, email } = person();
  const { memberId } = await invite(account, email);
  await join(subject);
  const { subject: next } = person(email);
  expect(await signIn(next)).toBe('/sign-in?error=taken');
  // Until the member is removed, and invited again.
  const owner = await signInAs(account, ['owner'], { origin: publicUrl });
  await owner.change('DELETE', `/members/${memberId}`, {});
  expect(await signIn(next)).toBe('/sign-in?error=not_invited');
  await owner.change('POST', '/members', { name: 'Eve', email, roles: ['auditor'] });
  const browser = await join(next);
  expect(await browser.get<Me>('/me')).toMatchObject({
    account: { id: account },
    member: { roles: ['auditor'] },
  });
  expect(await signIn(subject)).toBe('/sign-in?error=taken');
});

test('a suspended member is redirected back', async () => {
  const { subject, email } = person();
  const { memberId } = await invite(await makeKeylessAccount(), email);
  await join(subject);
  await store.query(`update member set status = 'suspended' where member_id = $1`, [memberId]);
  expect(await signIn(subject)).toBe('/sign-in?error=not_invited');
});

test("the provider's answer works once, unaltered, and only in the browser that asked", async () => {
  const { subject, email } = person();
  await invite(await makeKeylessAccount(), email);
  await join(subject);
  const browser = browse();
  const come = async (path: string, cookie: string) => {
    const answer = await browser.ask('GET', path, undefined, { cookie });
    return answer.headers['location'];
  };
  const expired = '/sign-in?error=expired';
  const failed = '/sign-in?error=failed';
  const one = await go(browser, subject);
  const other = await go(browser, subject);
  expect(await come(one.path, '')).toBe(expired);
  expect(await come(one.path, `${one.cookie}; ${other.cookie}`)).toBe(expired);
  expect(await come(one.path, 'dbvitals_sign_on=x')).toBe(expired);
  // Of somebody else's: what signs a stranger's browser in as oneself.
  expect(await come(one.path, other.cookie)).toBe(failed);
  expect(browser.cookie()).toBeNull();
  // What a provider adds is left alone.
  expect(await come(`${one.path}&session_state=x&session_state=y&scope=`, one.cookie)).toBe('/');
  expect(await come(one.path, one.cookie)).toBe(failed);
  const third = await go(browser, subject);
  expect(await come(third.path.replace(/code=[^&]+/, 'code=another'), third.cookie)).toBe(failed);
  const fourth = await go(browser, subject);
  expect(await come(fourth.path.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fevil.example'), fourth.cookie)).toBe(
    failed,
  );
  const aborted = await go(browser, '');
  expect(aborted.path).toContain('error=access_denied');
  expect(await come(aborted.path, aborted.cookie)).toBe(failed);
});

test('after signing in, the person gets the page they wanted, also on a second try, and never another host', async () => {
  const { subject, email } = person();
  await invite(await makeKeylessAccount(), email);
  await join(subject);
  const browser = browse();
  const come = async (path: string, cookie: string) => {
    const answer = await browser.ask('GET', path, undefined, { cookie });
    expect(cookieOf(answer)).toBe('dbvitals_sign_on=');
    return answer.headers['location'];
  };
  const page = '/tickets?status=open&connection_id=3#t';
  const query = `?next=${encodeURIComponent(page)}`;
  const one = await go(browser, subject, query);
  expect(await come(one.path, one.cookie)).toBe(page);
  const aborted = await go(browser, '', query);
  const back = `/sign-in?${new URLSearchParams({ error: 'failed', next: page })}`;
  expect(await come(aborted.path, aborted.cookie)).toBe(back);
  for (const elsewhere of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/a//evil.example',
    '/\tevil',
    '/fleet\r\nx: y',
    'fleet',
    '/%2fevil.example',
    '/fleet?q=\u00e4',
    `/${'x'.repeat(1_000)}`,
  ]) {
    const refused = await browser.ask('GET', `/sign-in/oidc?next=${encodeURIComponent(elsewhere)}`);
    expect([refused.status, refused.headers['location']], elsewhere).toEqual([400, undefined]);
    // What somebody planted in the browser is not believed either.
    const { path, cookie } = await go(browser, subject);
    const planted = `${cookie}.${Buffer.from(elsewhere).toString('base64url')}`;
    expect(await come(path, planted), elsewhere).toBe('/');
  }
});

test('the provider is asked for the identity only, with PKCE bound to this browser', async () => {
  const answer = await browse().ask('GET', '/sign-in/oidc');
  const url = new URL(answer.headers['location'] ?? '');
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: 'dbvitals',
    response_type: 'code',
    redirect_uri: `${publicUrl}/console/api/sign-in/oidc/callback`,
    scope: 'openid email',
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  const { state, nonce, code_challenge } = Object.fromEntries(url.searchParams);
  expect(new Set([state, nonce, code_challenge]).size).toBe(3);
  expect(answer.headers['set-cookie']).toMatch(
    /^dbvitals_sign_on=[\w-]{75}; Max-Age=300; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

test('at an address other than the public URL, the page says so', async () => {
  const answer = await openBrowser({ origin: service.origin }).ask('GET', '/sign-in/oidc');
  expect([answer.status, answer.headers['location']]).toEqual([302, '/sign-in?error=elsewhere']);
});

test('a provider that does not answer is reported, and asked again the next time', async () => {
  const [port, late] = [await freePort(), await freePort()];
  const own = `http://127.0.0.1:${port}`;
  const clientSecret = randomBytes(24).toString('base64url');
  const settings = {
    ...inject('sharedStore'),
    PORT: String(port),
    DBVITALS_PUBLIC_URL: own,
    DBVITALS_OIDC_ISSUER: `http://127.0.0.1:${late}`,
    DBVITALS_OIDC_CLIENT_ID: 'dbvitals',
    DBVITALS_OIDC_CLIENT_SECRET: clientSecret,
  };
  const lonely = await startService(settings, ['--no-monitor']);
  const browser = openBrowser({ origin: own });
  const begin = async () => {
    const answer = await browser.ask('GET', '/sign-in/oidc');
    return { to: answer.headers['location'] ?? '', cookie: cookieOf(answer) };
  };
  try {
    expect((await begin()).to).toBe('/sign-in?error=unreachable');
    const callback = `${own}/console/api/sign-in/oidc/callback`;
    const started = await startProvider(callback, { port: late, inIdToken: true, clientSecret });
    const { subject, email } = person();
    started.people.set(subject, { email, email_verified: 'true' });
    await invite(await makeKeylessAccount(), email);
    // Nobody has accepted anything. It tells of people in the ID token, and writes its yes as a text.
    const first = await begin();
    const back = await signInAt(first.to, subject);
    const come = async ({ search }: URL, cookie: string) => {
      return (await browser.ask('GET', `/sign-in/oidc/callback${search}`, undefined, { cookie })).headers[
        'location'
      ];
    };
    expect(await come(back, first.cookie)).toBe('/invitations');
    const second = await begin();
    const unheard = await signInAt(second.to, subject);
    await started.close();
    expect(await come(unheard, second.cookie)).toBe('/sign-in?error=unreachable');
  } finally {
    await lonely.stop();
  }
});

test('a service without single sign-on says so', async () => {
  const browser = openBrowser();
  expect(await browser.get('/sign-in')).toEqual({ oidc: false });
  for (const path of ['/sign-in/oidc', '/sign-in/oidc/callback?code=x']) {
    expect((await browser.ask('GET', path)).status).toBe(404);
  }
});
