import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeAccount, makeKeylessAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { type Answer, each } from './ask.ts';
import { Authenticator, type NewQuestion, type Question } from './authenticator.ts';
import { type Browser, openBrowser, type SignedIn, signInAs } from './browser.ts';
import { type Service, startService } from './running-service.ts';

interface Me {
  login: {
    email: string;
    has_password: boolean;
    passkeys: { id: string; name: string; last_used_at: string | null }[];
  };
  account: { id: number };
}

// Browsers make passkeys for names: the run's service by the name of this machine.
const origin = inject('origin').replace('127.0.0.1', 'localhost');
let store: pg.Client;
/** Another service of the store, for the same public address. It logs what it refuses. */
let second: Service;

beforeAll(async () => {
  second = await startService({ ...inject('sharedStore'), LOG_LEVEL: 'info', DBVITALS_PUBLIC_URL: origin }, [
    '--no-monitor',
  ]);
  store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
  await store.connect();
});

afterAll(async () => {
  await store.end();
  await second.stop();
});

/** The second service as a proxy reaches it that serves the public address. */
const throughSecond = () => ({ origin: second.origin, headers: { host: new URL(origin).host, origin } });

const codeOf = (answer: Answer) => [answer.status, answer.json<{ error: { code: string } }>().error.code];

/** A member with a passkey, and the authenticator that keeps it. */
async function withPasskey(account: number): Promise<{ person: SignedIn; key: Authenticator }> {
  const person = await signInAs(account, ['viewer'], { origin });
  const key = new Authenticator(origin);
  await add(person, key, 'laptop');
  return { person, key };
}

const questionForNew = (browser: Browser) => browser.change<NewQuestion>('POST', '/me/passkeys/options', {});
const ask = (browser: Browser) => browser.change<Question>('POST', '/sign-in/passkey/options', {});

async function add(browser: Browser, key: Authenticator, name: string): Promise<void> {
  await browser.change('POST', '/me/passkeys', { name, response: key.make(await questionForNew(browser)) });
}

async function signIn(key: Authenticator, ...departure: Parameters<Authenticator['answer']>[1][]) {
  const browser = openBrowser({ origin });
  const response = key.answer(await ask(browser), ...departure);
  return { browser, response, answer: await browser.ask('POST', '/sign-in/passkey', { response }) };
}

test('a passkey is added and signs in without an e-mail address; both are logged', async () => {
  const account = await makeAccount();
  const { person, key } = await withPasskey(account.id);
  const { browser, answer } = await signIn(key);
  expect(answer.status).toBe(204);
  const me = await browser.get<Me>('/me');
  expect(me.login.email).toBe(person.email);
  expect(me.account.id).toBe(account.id);
  expect(me.login.passkeys).toEqual([
    {
      id: key.passkeys[0]?.id.toString('base64url'),
      name: 'laptop',
      created_at: expect.any(String),
      last_used_at: expect.any(String),
    },
  ]);
  const log = await readLog(account.key);
  const [added] = log.filter(({ action_type }) => action_type === 'passkey_added');
  expect(added?.properties).toMatchObject({ member_id: person.memberId, passkey: 'laptop' });
  const signed = log.findLast(({ action_type }) => action_type === 'member_signed_in');
  expect(signed?.properties).toMatchObject({ member_id: person.memberId, by: 'passkey' });
  // A second passkey is another's at the same login: the browser is told which it has.
  const { excludeCredentials, user } = await questionForNew(browser);
  expect(excludeCredentials.map(({ id }) => id)).toEqual([me.login.passkeys[0]?.id]);
  expect(user.id).toBe(key.passkeys[0]?.userHandle);
});

test('an answer that does not match the challenge signs nobody in', async () => {
  const { key } = await withPasskey(await makeKeylessAccount());
  const { key: other } = await withPasskey(await makeKeylessAccount());
  const wrong: Parameters<Authenticator['answer']>[1][] = [
    { origin: 'http://evil.example' },
    { origin: inject('origin') },
    { rpId: 'evil.example' },
    { flags: 0x01 }, // nobody proved who they are
    { flags: 0x04 },
    { type: 'webauthn.create' },
    { userHandle: other.passkeys[0]?.userHandle ?? '' },
  ];
  for (const departure of wrong) {
    const { answer, browser } = await signIn(key, departure);
    expect(codeOf(answer), JSON.stringify(departure)).toEqual([401, 'unauthorized']);
    expect(browser.cookie()).toBeNull();
  }
  const browser = openBrowser({ origin });
  const [mine, theirs] = [key.answer(await ask(browser)), other.answer(await ask(browser))];
  const strange = [
    { ...mine, response: { ...mine.response, signature: theirs.response.signature } },
    { ...mine, id: theirs.id, rawId: theirs.id },
    { ...mine, id: 'AAAA', rawId: 'AAAA' },
    { ...mine, rawId: theirs.id },
    { ...mine, response: { ...mine.response, clientDataJSON: theirs.response.authenticatorData } },
    { ...mine, response: { ...mine.response, authenticatorData: 'AAAA' } },
    key.answer({ challenge: 'A'.repeat(75), rpId: 'localhost' }),
    key.answer({ challenge: '', rpId: 'localhost' }),
  ];
  for (const response of strange) {
    const answer = await browser.ask('POST', '/sign-in/passkey', { response });
    expect(codeOf(answer)).toEqual([401, 'unauthorized']);
  }
  for (const response of [null, 'x', {}, { ...mine, type: 'password' }, { ...mine, response: {} }]) {
    const answer = await browser.ask('POST', '/sign-in/passkey', { response });
    expect(codeOf(answer)).toEqual([400, 'invalid_parameter']);
  }
  expect((await signIn(key)).answer.status).toBe(204);
});

test('a flood of answers that are refused writes a few lines a second', async () => {
  const person = await signInAs(await makeKeylessAccount(), ['viewer'], { origin });
  const key = new Authenticator(origin);
  await add(person, key, 'laptop');
  const browser = openBrowser(throughSecond());
  const response = key.answer(await ask(browser), { rpId: 'evil.example' });
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => browser.ask('POST', '/sign-in/passkey', { response })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  await second.says(/"failure":"a passkey was not accepted"/);
});

test('an answer works once, even when sent many times at once, and a cloned passkey is refused', async () => {
  const { key } = await withPasskey(await makeKeylessAccount());
  const browser = openBrowser({ origin });
  // It does not count, so that nothing but its challenge tells that it was there before.
  const response = key.answer(await ask(browser), { counter: 0 });
  const statuses = await each([1, 2, 3, 4], 4, async () => {
    return (await openBrowser({ origin }).ask('POST', '/sign-in/passkey', { response })).status;
  });
  expect(statuses.toSorted()).toEqual([204, 401, 401, 401]);
  expect((await signIn(key)).answer.status).toBe(204);
  const again = await signIn(key, { counter: key.passkeys[0]?.counter ?? 0 });
  expect(codeOf(again.answer)).toEqual([401, 'unauthorized']);
  expect((await signIn(key)).answer.status).toBe(204);
});

test('a passkey without a counter, as synced ones are, can sign in repeatedly', async () => {
  const { key } = await withPasskey(await makeKeylessAccount());
  for (let time = 0; time < 2; time += 1) expect((await signIn(key, { counter: 0 })).answer.status).toBe(204);
});

test('a challenge is valid only for its purpose and its session', async () => {
  const { person, key } = await withPasskey(await makeKeylessAccount());
  const { challenge } = await questionForNew(person);
  const browser = openBrowser({ origin });
  const response = key.answer({ challenge, rpId: 'localhost' });
  expect(codeOf(await browser.ask('POST', '/sign-in/passkey', { response }))).toEqual([401, 'unauthorized']);
  const other = await signInAs(await makeKeylessAccount(), ['viewer'], { origin });
  const question = await questionForNew(other);
  for (const taken of [challenge, (await ask(browser)).challenge]) {
    const made = new Authenticator(origin).make({ ...question, challenge: taken });
    const answer = await other.ask('POST', '/me/passkeys', { name: 'x', response: made });
    expect(codeOf(answer)).toEqual([400, 'invalid_parameter']);
  }
});

test('any service on the store accepts the answer', async () => {
  const { key } = await withPasskey(await makeKeylessAccount());
  const response = key.answer(await ask(openBrowser({ origin })), { counter: 0 });
  const beside = openBrowser(throughSecond());
  expect((await beside.ask('POST', '/sign-in/passkey', { response })).status).toBe(204);
  const replayed = await openBrowser({ origin }).ask('POST', '/sign-in/passkey', { response });
  expect(replayed.status).toBe(401);
});

test('unrequested attestation certificates are not evaluated', async () => {
  const person = await signInAs(await makeKeylessAccount(), ['viewer'], throughSecond());
  const certificate = new Map([['x5c', [Buffer.from('http://169.254.169.254/crl')]]]);
  for (const format of ['apple', 'fido-u2f', 'packed']) {
    const key = new Authenticator(origin);
    const response = key.make(await questionForNew(person), { attestation: [format, certificate] });
    const answer = await person.ask('POST', '/me/passkeys', { name: 'x', response });
    expect(codeOf(answer)).toEqual([400, 'invalid_parameter']);
    await second.says(new RegExp(`an attestation that was not asked for: ${format}`));
  }
});

test('a passkey that no correct browser would make is not added', async () => {
  const person = await signInAs(await makeKeylessAccount(), ['viewer'], { origin });
  const key = new Authenticator(origin);
  const wrong: Parameters<Authenticator['make']>[1][] = [
    { origin: 'http://evil.example' },
    { rpId: 'evil.example' },
    { flags: 0x01 },
    { type: 'webauthn.get' },
    { attestation: ['none', new Map([['x5c', []]])] },
    { attestation: ['strange', new Map()] },
  ];
  for (const departure of wrong) {
    const response = key.make(await questionForNew(person), departure);
    const answer = await person.ask('POST', '/me/passkeys', { name: 'x', response });
    expect(codeOf(answer), JSON.stringify(departure)).toEqual([400, 'invalid_parameter']);
  }
  const good = key.make(await questionForNew(person));
  for (const name of ['', ' ', 'x'.repeat(101), 'two\nlines']) {
    const answer = await person.ask('POST', '/me/passkeys', { name, response: good });
    expect(answer.json<{ error: object }>().error).toMatchObject({ parameter: 'name' });
  }
  expect((await person.get<Me>('/me')).login.passkeys).toEqual([]);
  await person.change('POST', '/me/passkeys', { name: '<script>', response: good });
  const twice = await person.ask('POST', '/me/passkeys', { name: 'again', response: good });
  expect(codeOf(twice)).toEqual([400, 'invalid_parameter']);
});

test('a page at an IP address says where passkeys work', async () => {
  const person = await signInAs(await makeKeylessAccount(), ['viewer']);
  for (const path of ['/sign-in/passkey/options', '/me/passkeys/options']) {
    const answer = await person.ask('POST', path, {});
    expect(codeOf(answer), path).toEqual([409, 'conflict']);
    expect(answer.text).toContain(`Passkeys work only at ${origin}.`);
  }
});

test('the Host header does not change where passkeys work', async () => {
  const { key } = await withPasskey(await makeKeylessAccount());
  const evil = 'http://evil.example';
  for (const to of [inject('origin'), second.origin]) {
    const headers = { host: 'evil.example', origin: evil };
    const person = await signInAs(await makeKeylessAccount(), ['viewer'], { origin: to, headers });
    for (const path of ['/sign-in/passkey/options', '/me/passkeys/options']) {
      expect(codeOf(await person.ask('POST', path, {})), path).toEqual([409, 'conflict']);
    }
    // Made and signed for the other origin from a good challenge.
    const made = new Authenticator(evil);
    const genuine = await signInAs(await makeKeylessAccount(), ['viewer'], { origin });
    const { challenge, user, ...rest } = await questionForNew(genuine);
    const question = { challenge, user, ...rest, rp: { id: 'evil.example', name: 'x' } };
    const added = await person.ask('POST', '/me/passkeys', { name: 'x', response: made.make(question) });
    expect(added.status).toBeGreaterThanOrEqual(400);
    const signed = key.answer(await ask(openBrowser({ origin })), { origin: evil, rpId: 'evil.example' });
    const browser = openBrowser({ origin: to, headers });
    expect((await browser.ask('POST', '/sign-in/passkey', { response: signed })).status).toBe(409);
    expect(browser.cookie()).toBeNull();
  }
});

test('an invitation links to the public URL, whatever the Host header says', async () => {
  const headers = { host: 'evil.example', origin: 'http://evil.example' };
  const owner = await signInAs(await makeKeylessAccount(), ['owner'], { origin: second.origin, headers });
  const { link } = await owner.change<{ link: { url: string } }>('POST', '/members', {
    name: 'Ada',
    email: `${crypto.randomUUID()}@example.com`,
    roles: ['viewer'],
  });
  expect(new URL(link.url).origin).toBe(origin);
});

test('a session older than ten minutes cannot add or remove a passkey until it is confirmed by one', async () => {
  const { person, key } = await withPasskey(await makeKeylessAccount());
  const added = new Authenticator(origin);
  const response = added.make(await questionForNew(person));
  const own = `/me/passkeys/${key.passkeys[0]?.id.toString('base64url')}`;
  await store.query(
    `update session set proved_at = proved_at - interval '10 minutes'
      where login_id = (select login_id from login where email = $1)`,
    [person.email],
  );
  const attempts = [
    ['POST', '/me/passkeys/options', {}],
    ['POST', '/me/passkeys', { name: 'x', response }],
    ['DELETE', own, {}],
  ] as const;
  for (const [method, path, body] of attempts) {
    expect(codeOf(await person.ask(method, path, body)), path).toEqual([403, 'proof_needed']);
  }
  // The answer to a sign-in is none to this question, nor is another person's passkey.
  const { key: strange } = await withPasskey(await makeKeylessAccount());
  const prove = async (by: Authenticator, from: string) => {
    const question = await person.change<Question>('POST', from, {});
    return (await person.ask('POST', '/me/proof/passkey', { response: by.answer(question) })).status;
  };
  expect(await prove(key, '/sign-in/passkey/options')).toBe(401);
  expect(await prove(strange, '/me/proof/passkey/options')).toBe(401);
  const before = person.cookie() ?? '';
  expect(await prove(key, '/me/proof/passkey/options')).toBe(204);
  expect((await person.ask('GET', '/me', undefined, { cookie: before })).status).toBe(401);
  await person.change('POST', '/me/passkeys', { name: 'x', response });
});

test('only its owner can remove a passkey, and never the last way to sign in', async () => {
  const account = await makeAccount();
  const { person, key } = await withPasskey(account.id);
  const second = new Authenticator(origin);
  await add(person, second, 'phone');
  const { passkeys } = (await person.get<Me>('/me')).login;
  expect(passkeys.map(({ name }) => name)).toEqual(['laptop', 'phone']);
  const { person: stranger } = await withPasskey(account.id);
  const [laptop, phone] = passkeys.map(({ id }) => `/me/passkeys/${id}`);
  expect(codeOf(await stranger.ask('DELETE', laptop ?? ''))).toEqual([404, 'not_found']);
  await store.query('update login set password = null where email = $1', [person.email]);
  await person.change('DELETE', laptop ?? '');
  expect(codeOf((await signIn(key)).answer)).toEqual([401, 'unauthorized']);
  expect(codeOf(await person.ask('DELETE', phone ?? ''))).toEqual([409, 'conflict']);
  expect(codeOf(await person.ask('DELETE', laptop ?? ''))).toEqual([404, 'not_found']);
  for (const odd of ['x', '%00', 'A'.repeat(1_364), '..%2F..']) {
    expect(codeOf(await person.ask('DELETE', `/me/passkeys/${odd}`)), odd).toEqual([404, 'not_found']);
  }
  expect((await signIn(second)).answer.status).toBe(204);
  const removed = (await readLog(account.key)).filter(({ action_type }) => action_type === 'passkey_removed');
  expect(removed.map(({ properties }) => properties['passkey'])).toEqual(['laptop']);
});

test('without a password, removing two passkeys at once leaves one', async () => {
  const { person } = await withPasskey(await makeKeylessAccount());
  await add(person, new Authenticator(origin), 'phone');
  await store.query('update login set password = null where email = $1', [person.email]);
  const { passkeys } = (await person.get<Me>('/me')).login;
  const statuses = await each(passkeys, 2, async ({ id }) => {
    return (await person.ask('DELETE', `/me/passkeys/${id}`)).status;
  });
  expect(statuses.toSorted()).toEqual([204, 409]);
});

test('a login has twenty passkeys at most', async () => {
  const { person, key } = await withPasskey(await makeKeylessAccount());
  await store.query(
    `insert into passkey (credential_id, login_id, name, public_key, counter)
     select sha256((login_id || '-' || n)::text::bytea), login_id, 'more', 'x', 0
       from login, generate_series(2, 20) n where email = $1`,
    [person.email],
  );
  const response = key.make(await questionForNew(person));
  const answer = await person.ask('POST', '/me/passkeys', { name: 'one more', response });
  expect(codeOf(answer)).toEqual([409, 'conflict']);
});

test('a suspended member cannot sign in with a passkey', async () => {
  const { person, key } = await withPasskey(await makeKeylessAccount());
  await store.query(`update member set status = 'suspended' where member_id = $1`, [person.memberId]);
  expect(codeOf((await signIn(key)).answer)).toEqual([403, 'forbidden']);
});
