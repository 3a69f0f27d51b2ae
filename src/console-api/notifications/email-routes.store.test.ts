import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { addDestination } from '../../notifications/destinations/add-destination.ts';
import { recipientToken } from '../../notifications/destinations/recipient-token.ts';
import { accountKey } from '../../store/account-key.ts';
import { openPool } from '../../store/connect.ts';
import { consoleOn } from '../console-fixture.ts';

let store: TestStore;
let app: Awaited<ReturnType<typeof consoleOn>>;
let reader: ReturnType<typeof openPool>;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const ONE_CLICK = 'List-Unsubscribe=One-Click';
const email = 'ada@example.com';

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'console', { max: 1 });
  app = await consoleOn(store, reader, () => Promise.reject(new Error('not in this test')));
});
afterAll(async () => {
  await app.close();
  await reader.end();
  await store.stop();
});

async function recipient(address = email): Promise<string> {
  const accountId = await store.account();
  const { secret } = store.deps;
  const wanted = { name: 'Mail', channel: 'email' as const, recipients: [address] };
  const { destination } = await changeAccount(store.writer, accountId, (change) =>
    addDestination(change, secret, { allowPrivate: false }, wanted),
  );
  const key = await accountKey(store.writer, secret, accountId);
  return recipientToken(key ?? Buffer.alloc(0), { accountId, destinationId: destination.id, email: address });
}

const ask = (method: 'GET' | 'POST', path: string, headers: Record<string, string> = {}, payload?: string) =>
  app.inject({
    method,
    url: `/console/api/email/${path}`,
    headers: {
      'dbvitals-caller': JSON.stringify({ requestId: 'x', address: '127.0.0.1', origin: 'http://localhost' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });

const page = { origin: 'http://localhost', 'content-type': 'application/json' };

test('a GET changes nothing; the page confirms; a mail program unsubscribes with one click', async () => {
  const token = await recipient();
  const state = async () => (await ask('GET', token)).json<{ state: string }>().state;
  expect((await ask('GET', token)).json()).toEqual({
    account: expect.any(String),
    destination: 'Mail',
    email,
    state: 'unconfirmed',
  });
  const opened = await ask('GET', `${token}/unsubscribe`);
  expect([opened.statusCode, opened.headers['location']]).toEqual([303, `/email/${token}`]);
  expect(await state()).toBe('unconfirmed');
  expect((await ask('POST', `${token}/confirm`, page, '{}')).statusCode).toBe(200);
  expect(await state()).toBe('confirmed');
  expect((await ask('POST', `${token}/unsubscribe`, FORM, ONE_CLICK)).statusCode).toBe(200);
  expect(await state()).toBe('unsubscribed');
});

test('no other site and no other form changes anything', async () => {
  const token = await recipient('grace@example.com'); // the other one has unsubscribed
  const evil = { origin: 'https://evil.example' };
  const refused = [
    await ask('POST', `${token}/unsubscribe`, { ...FORM, ...evil }, ONE_CLICK),
    await ask('POST', `${token}/unsubscribe`, { 'content-type': 'text/plain' }, ONE_CLICK),
    await ask('POST', `${token}/confirm`, FORM, ONE_CLICK),
    await ask('POST', `${token}/confirm`, { ...page, ...evil }, '{}'),
    await ask('POST', `${token}/confirm`, { ...FORM, origin: 'http://localhost' }, ONE_CLICK),
  ];
  expect(refused.map(({ statusCode }) => statusCode)).toEqual([403, 403, 403, 403, 403]);
  expect((await ask('GET', token)).json()).toMatchObject({ state: 'unconfirmed' });
});

test.each(['x', '%00', '..%2f..', 'A'.repeat(43), 'A'.repeat(1_300)])(
  'the token %j is of nobody',
  async (token) => {
    const answers = [
      await ask('GET', token),
      await ask('POST', `${token}/confirm`, page, '{}'),
      await ask('POST', `${token}/unsubscribe`, FORM, ONE_CLICK),
    ];
    for (const answer of answers) {
      expect(answer.statusCode).toBe(404);
      expect(answer.body).not.toContain(email);
    }
  },
);
