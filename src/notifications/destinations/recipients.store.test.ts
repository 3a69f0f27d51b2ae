import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../database/encryption.ts';
import type { OutgoingMail, Send, SendResult } from '../sending/outgoing.ts';
import { addDestination } from './add-destination.ts';
import { confirmRecipient, readRecipient, unsubscribeRecipient } from './answer-recipient.ts';
import { askRecipients } from './ask-recipients.ts';
import { changeDestination } from './change-destination.ts';
import { openDestination } from './open-destination.ts';
import { askUnconfirmed } from './store-recipients.ts';

let store: TestStore;
const secret: SecretKeys = [Buffer.alloc(32, 7)];
const rules = { allowPrivate: false };
const mails: OutgoingMail['messages'][number][] = [];
let accepts = true;

beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const send: Send = async (request) => {
  if (accepts && request.protocol === 'smtp') mails.push(...request.messages);
  return {
    accepted: accepts,
    status: null,
    result: '',
    response: '',
    gone: false,
    retryAfter: null,
    milliseconds: 1,
  } as SendResult;
};
const askAll = () =>
  askRecipients({ writer: store.writer, secret, send, consoleUrl: () => 'https://dbvitals.example.com' });
const within = <T>(accountId: number, work: (change: Change) => Promise<T>) =>
  changeAccount(store.writer, accountId, work);
const add = (accountId: number, name: string, recipients: string[]) =>
  within(accountId, (change) =>
    addDestination(change, secret, rules, { name, channel: 'email', recipients }),
  );
const change = (accountId: number, id: number, recipients: string[]) =>
  within(accountId, (made) => changeDestination(made, secret, rules, id, { recipients }));

/** The token in the link of the newest mail to an address. */
function tokenFor(email: string): string {
  const mail = mails.findLast(({ to }) => to === email);
  return /\/email\/([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? '';
}

test('a recipient gets messages after confirming, and none after unsubscribing', async () => {
  const accountId = await store.account();
  const { id } = (await add(accountId, 'Mail', ['Ada@Example.com', 'bob@example.com'])).destination;
  accepts = false;
  expect(await askAll()).toBe(0);
  accepts = true;
  expect(await askAll()).toBe(0); // the claim of the failed round lasts ten minutes
  await store.writer.query('update destination_recipient set ask_at = now() where account_id = $1', [
    accountId,
  ]);
  expect(await askAll()).toBe(2);
  expect(await askAll()).toBe(0);
  const recipients = async () => (await openDestination(store.writer, secret, accountId, id))?.recipients;
  expect(await recipients()).toEqual([]);

  const token = tokenFor('ada@example.com');
  expect(await readRecipient(store.writer, token)).toMatchObject({
    email: 'ada@example.com',
    state: 'unconfirmed',
  });
  expect(await recipients()).toEqual([]); // reading the link changes nothing
  await confirmRecipient(store.writer, token);
  await confirmRecipient(store.writer, token);
  expect(await recipients()).toEqual([{ email: 'ada@example.com', token }]);

  await unsubscribeRecipient(store.writer, token);
  expect(await recipients()).toEqual([]);
  // Not by removing and adding it, in other capitals, nor by asking again.
  await change(accountId, id, ['bob@example.com']);
  await change(accountId, id, ['ADA@example.com', 'bob@example.com']);
  expect(await within(accountId, (made) => askUnconfirmed(made, id, true))).toEqual([]);
  expect(await askAll()).toBe(0);
  expect(await recipients()).toEqual([]);
  await expect(confirmRecipient(store.writer, token)).rejects.toThrow('try again in a minute');
  await store.writer.query(
    `update destination_recipient set confirmed_at = confirmed_at - interval '1 minute' where account_id = $1`,
    [accountId],
  );
  await confirmRecipient(store.writer, token);
  expect(await recipients()).toHaveLength(1);
  const { rows } = await store.writer.query(
    `select action_type from activity where account_id = $1 and action_type like 'recipient%' order by id`,
    [accountId],
  );
  expect(rows.map(({ action_type }) => action_type)).toEqual([
    ...['recipient_confirmed', 'recipient_unsubscribed', 'recipient_confirmed'],
  ]);
});

test('a recipient who was added, or let confirm, outside dbvitals gets nothing', async () => {
  const accountId = await store.account();
  const { id } = (await add(accountId, 'Mail', ['ada@example.com'])).destination;
  await store.writer.query(
    `insert into destination_recipient (account_id, destination_id, email, state) values ($1, $2, 'eve@example.com', 'confirmed')`,
    [accountId, id],
  );
  expect((await openDestination(store.writer, secret, accountId, id))?.recipients).toEqual([]);
  await store.writer.query(
    `update destination set target = target || ', eve@example.com' where destination_id = $1`,
    [id],
  );
  await expect(openDestination(store.writer, secret, accountId, id)).rejects.toThrow(
    /changed outside dbvitals/,
  );
});

test('a token is of one recipient, and of none after the recipient or the destination is removed', async () => {
  const [one, two] = [await store.account(), await store.account()];
  const first = (await add(one, 'Mail', ['carol@example.com'])).destination;
  await askAll();
  const token = tokenFor('carol@example.com');
  await add(two, 'Mail', ['carol@example.com']);
  await askAll();
  const other = tokenFor('carol@example.com');
  expect(other).not.toBe(token);
  await confirmRecipient(store.writer, token);
  expect(await readRecipient(store.writer, other)).toMatchObject({ state: 'unconfirmed' });
  for (const wrong of ['', 'x', token.slice(1), `${token}\0`, `${token}x`, '%', token.toUpperCase()])
    await expect(confirmRecipient(store.writer, wrong)).rejects.toThrow('This link is no longer valid.');
  await change(one, first.id, ['dan@example.com']);
  for (const act of [readRecipient, confirmRecipient, unsubscribeRecipient])
    await expect(act(store.writer, token)).rejects.toThrow('This link is no longer valid.');
  const { rows } = await store.writer.query('select token_hash::text as hash from destination_recipient');
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
});

test('nobody is flooded: links are asked for again after an hour, and few within a day', async () => {
  const accountId = await store.account();
  const ids: number[] = [];
  for (const name of ['A', 'B', 'C'])
    ids.push((await add(accountId, name, ['victim@example.com'])).destination.id);
  await expect(add(accountId, 'D', ['victim@example.com'])).rejects.toThrow(/asked 3 times within 24 hours/);
  const [id = 0] = ids;
  expect(await within(accountId, (made) => askUnconfirmed(made, id, true))).toEqual([]);
  await store.writer.query(
    `update destination_recipient set asked_at = asked_at - interval '61 minutes' where account_id = $1`,
    [accountId],
  );
  await expect(within(accountId, (made) => askUnconfirmed(made, id, true))).rejects.toThrow(
    /ask again tomorrow/,
  );
  const many = (from: number) => Array.from({ length: 20 }, (_, at) => `p${from + at}@example.com`);
  await add(accountId, 'E', many(0));
  await add(accountId, 'F', many(20));
  await expect(add(accountId, 'G', many(40))).rejects.toThrow(/asked 50 recipients within 24 hours/);
  await store.writer.query(
    `update destination_recipient set asked_at = asked_at - interval '25 hours' where account_id = $1`,
    [accountId],
  );
  expect(await within(accountId, (made) => askUnconfirmed(made, id, true))).toEqual(['victim@example.com']);
});
