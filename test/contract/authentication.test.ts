import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { succeedsOnce } from '../support/succeeds-once.ts';
import { type Account, makeAccount, makeKey, type NewKey } from './account.ts';
import { type Answer, ask } from './ask.ts';
import { command } from './command.ts';
import { fixtureJson } from './fixture-command.ts';
import { sendRawOnce } from './raw.ts';
import type { Entry, Failure, List } from './records.ts';

const PATH = '/api/v1/health/fleet';
/** A well-formed key that nobody has. */
const UNKNOWN = 'dbv_live_00000000000000000000000000000000000000000003cHuV7';
const account: Promise<Account> = makeAccount();

function expectUnauthorized(answer: Answer): void {
  expect(answer.status).toBe(401);
  expect(answer.json<Failure>().error.code).toBe('unauthorized');
  expect(answer.headers['www-authenticate']).toBe('Bearer realm="dbvitals"');
}

function expectInvalidKey(answer: Answer): void {
  expect(answer.status).toBe(401);
  expect(answer.json<Failure>().error.code).toBe('invalid_api_key');
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="dbvitals", ?error="invalid_token"/);
}

function checksum(text: string): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let rest = crc32(text);
  let written = '';
  for (let place = 0; place < 6; place += 1) {
    written = digits.charAt(rest % 62) + written;
    rest = Math.floor(rest / 62);
  }
  return written;
}

test('a key is dbv_live_, 43 base62 characters, and 6 of their CRC-32', async () => {
  const { key } = await account;
  expect(key).toMatch(/^dbv_live_[0-9A-Za-z]{49}$/);
  expect(key.slice(-6)).toBe(checksum(key.slice(0, -6)));
});

test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('200: the scheme %s', async (scheme) => {
  const authorization = `${scheme} ${(await account).key}`;
  expect((await ask(PATH, { headers: { authorization } })).status).toBe(200);
});

test('401 unauthorized: no Authorization header', async () => {
  expectUnauthorized(await ask(PATH));
});

test.each([
  '',
  'Bearer',
  'Bearer ',
  'Basic KEY',
  'Token KEY',
  'KEY',
  'Digest username="a"',
  'BearerKEY',
  'Bearer,KEY',
])('401 unauthorized: the header "%s"', async (pattern) => {
  const authorization = pattern.replace('KEY', (await account).key);
  expectUnauthorized(await ask(PATH, { headers: { authorization } }));
});

test('401 unauthorized: two Authorization headers, even of one live key', async () => {
  const { key } = await account;
  expectUnauthorized(await ask(PATH, { headers: { authorization: [`Bearer ${key}`, `Bearer ${key}`] } }));
});

test('401 unauthorized: a key anywhere else', async () => {
  const { key } = await account;
  expectUnauthorized(await ask(`${PATH}?api_key=${key}`));
  expectUnauthorized(await ask(PATH, { headers: { 'x-api-key': key, cookie: `key=${key}` } }));
});

test('401 invalid_api_key: anything that is not a live key', async () => {
  const { key } = await account;
  const unknown = `dbv_live_${'0'.repeat(43)}`;
  const tokens = [
    'nonsense',
    `${unknown}${checksum(unknown)}`,
    `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    `${key}0`,
    key.slice(0, -1),
    key.toLowerCase(),
    `${key}=`,
    "'or'1'='1",
  ];
  for (const token of tokens) {
    expectInvalidKey(await ask(PATH, { key: token }));
  }
});

test('401 invalid_api_key: a live key followed by a byte that looks like a space', async () => {
  const { key } = await account;
  for (const byte of [0xa0, 0x85]) {
    const head = Buffer.from(
      `GET ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}`,
    );
    expectInvalidKey(await sendRawOnce(Buffer.concat([head, Buffer.from([byte]), Buffer.from('\r\n\r\n')])));
  }
});

test('401 invalid_api_key: a key past its expiry', async () => {
  const { id } = await account;
  const expires = async () => {
    const { key } = await makeKey(id, 'short-lived', 3);
    const { status } = await ask(PATH, { key });
    await wait(3_100);
    expectInvalidKey(await ask(PATH, { key }));
    return status === 200; // else it took three seconds to be made
  };
  expect(await succeedsOnce(expires)).toBe(true);
});

test('401 invalid_api_key: a revoked key, as soon as the command has returned', async () => {
  const { id } = await account;
  const { id: keyId, key } = await makeKey(id, 'revoked');
  expect((await ask(PATH, { key })).status).toBe(200);
  expect((await command(['key', 'revoke', String(keyId)])).exit).toBe(0);
  expectInvalidKey(await ask(PATH, { key }));
});

test('a regenerated key replaces the old one at once', async () => {
  const { id } = await account;
  const old = await makeKey(id, 'rotated');
  const successor = await fixtureJson<NewKey>(['key', 'regenerate', String(old.id)]);
  expect(successor).toMatchObject({ name: 'rotated', key: expect.stringMatching(/^dbv_live_/) });
  expect((await ask(PATH, { key: successor.key })).status).toBe(200);
  expectInvalidKey(await ask(PATH, { key: old.key }));
});

test('after a key is regenerated, the old one works until its overlap ends', async () => {
  const { id } = await account;
  const overlaps = async () => {
    const old = await makeKey(id, 'overlapping');
    const successor = await fixtureJson<NewKey>(['key', 'regenerate', String(old.id), '--overlap', '3s']);
    const { status } = await ask(PATH, { key: old.key });
    expect((await ask(PATH, { key: successor.key })).status).toBe(200);
    await wait(3_100);
    expectInvalidKey(await ask(PATH, { key: old.key }));
    expect((await ask(PATH, { key: successor.key })).status).toBe(200);
    return status === 200; // else it took three seconds to be regenerated
  };
  expect(await succeedsOnce(overlaps)).toBe(true);
});

test('a request without a key, or with an unknown key, is not recorded', async () => {
  const { key } = await makeAccount();
  const total = async () => {
    const answer = await ask('/api/v1/activity?per_page=1', { key });
    return answer.json<List<Entry>>().data[0]?.id ?? 0;
  };
  const before = await total();
  await ask(PATH);
  await ask(PATH, { key: UNKNOWN });
  await ask(PATH, { key: 'nonsense' });
  expect(await total()).toBe(before + 1);
});

test('attempts with a dead key are recorded once a minute, and the answer does not reveal it', async () => {
  const { id, key } = await makeAccount();
  const [revoked, expired, old] = await Promise.all([
    makeKey(id, 'revoked'),
    makeKey(id, 'expired', 1),
    makeKey(id, 'old'),
  ]);
  await command(['key', 'revoke', String(revoked.id)]);
  await fixtureJson(['key', 'regenerate', String(old.id)]);
  await wait(1_000);
  const unknown = await ask(PATH, { key: UNKNOWN });
  for (const dead of [revoked, revoked, revoked, expired, old]) {
    const answer = await ask(PATH, { key: dead.key });
    expectInvalidKey(answer);
    expect(answer.text).toBe(unknown.text);
    expect(Object.keys(answer.headers)).toEqual(Object.keys(unknown.headers));
  }
  const recorded = async () => {
    const answer = await ask('/api/v1/activity?action_type=api_key_refused&order=asc', { key });
    return answer.json<List<Entry>>().data.map(({ page_path, properties }) => ({ page_path, ...properties }));
  };
  await expect.poll(recorded).toHaveLength(3);
  await wait(2_000); // the attempts of this minute are counted, and told when it is over
  const entries = await recorded();
  const entry = { page_path: '/keys', source_ip: '127.0.0.1', attempts: 1 };
  expect(entries).toHaveLength(3);
  expect(entries).toEqual(
    expect.arrayContaining([
      {
        ...entry,
        api_key_id: revoked.id,
        api_key_name: 'revoked',
        reason: 'revoked',
        attempts: expect.toBeOneOf([1, 2, 3]), // those that came before the entry was written
      },
      { ...entry, api_key_id: expired.id, api_key_name: 'expired', reason: 'expired' },
      { ...entry, api_key_id: old.id, api_key_name: 'old', reason: 'regenerated' },
    ]),
  );
});
