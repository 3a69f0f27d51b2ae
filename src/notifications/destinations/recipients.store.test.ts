import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { findOtherAccounts, unsubscribeFromAccount } from '../recipients/unsubscribed.ts';
import type { OutgoingMail, Send, SendResult } from '../sending/outgoing.ts';
import { addDestination } from './add-destination.ts';
import { confirmRecipient, readRecipient, unsubscribeRecipient } from './answer-recipient.ts';
import { askRecipients } from './ask-recipients.ts';
import { changeDestination } from './change-destination.ts';
import { openDestination } from './open-destination.ts';
import { askAgain } from './store-recipients.ts';

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
  expect(await within(accountId, (made) => askAgain(made, id))).toEqual([]);
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
    'recipient_confirmed',
    'recipient_unsubscribed',
    'recipient_confirmed',
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
  expect(await within(accountId, (made) => askAgain(made, id))).toEqual([]);
  await store.writer.query(
    `update destination_recipient set asked_at = asked_at - interval '61 minutes' where account_id = $1`,
    [accountId],
  );
  await expect(within(accountId, (made) => askAgain(made, id))).rejects.toThrow(/ask again tomorrow/);
  const many = (from: number) => Array.from({ length: 20 }, (_, at) => `p${from + at}@example.com`);
  await add(accountId, 'E', many(0));
  await add(accountId, 'F', many(20));
  await expect(add(accountId, 'G', many(40))).rejects.toThrow(/asked 50 recipients within 24 hours/);
  await store.writer.query(
    `update destination_recipient set asked_at = asked_at - interval '25 hours' where account_id = $1`,
    [accountId],
  );
  expect(await within(accountId, (made) => askAgain(made, id))).toEqual(['victim@example.com']);
});

test('a recipient cannot confirm what a member asked who may not change destinations any more', async () => {
  const accountId = await store.account();
  const insertMember = `
    insert into member (account_id, name, email, roles, status, joined_at)
    values ($1, $2, $2, $3, 'active', now()) returning member_id`;
  const member = async (name: string) =>
    (await store.writer.query(insertMember, [accountId, name, ['admin']])).rows[0].member_id as number;
  const [eve, ada] = [await member('eve@example.com'), await member('ada@example.com')];
  const as = <T>(memberId: number | null, work: (change: Change) => Promise<T>) =>
    within(accountId, (made) => work({ ...made, memberId }));
  const recipients = ['hers@example.com'];
  const { id } = (
    await as(eve, (made) =>
      addDestination(made, secret, rules, { name: 'Hers', channel: 'email', recipients }),
    )
  ).destination;
  await store.writer.query(`update member set status = 'suspended' where member_id = $1`, [eve]);
  await askAll(); // what they asked before is not sent either
  expect(mails.filter(({ to }) => to === 'hers@example.com')).toEqual([]);
  await store.writer.query(`update member set status = 'active' where member_id = $1`, [eve]);
  await store.writer.query('update destination_recipient set ask_at = now() where destination_id = $1', [id]);
  await askAll();
  const token = tokenFor('hers@example.com');
  for (const [column, value] of [
    ['status', 'suspended'],
    ['roles', ['operator']],
  ] as const) {
    await store.writer.query(`update member set ${column} = $2 where member_id = $1`, [eve, value]);
    await expect(confirmRecipient(store.writer, token)).rejects.toThrow('This link is no longer valid.');
    await store.writer.query(
      `update member set status = 'active', roles = array['admin'] where member_id = $1`,
      [eve],
    );
  }
  await store.writer.query('delete from member where member_id = $1', [eve]);
  await expect(confirmRecipient(store.writer, token)).rejects.toThrow('This link is no longer valid.');
  expect(await unsubscribeRecipient(store.writer, token)).toMatchObject({ state: 'unsubscribed' });
  await store.writer.query(
    `update destination_recipient set state = 'unconfirmed' where destination_id = $1`,
    [id],
  );
  // Another member keeps the recipient, and so asks.
  await as(ada, (made) => changeDestination(made, secret, rules, id, { recipients }));
  expect(await confirmRecipient(store.writer, token)).toMatchObject({ state: 'confirmed' });
});

test('who unsubscribes is asked by no other destination of any account', async () => {
  const [one, two] = [await store.account(), await store.account()];
  const email = 'gone@example.com';
  const first = (await add(one, 'Mail', [email])).destination;
  const second = (await add(two, 'Mail', [email])).destination;
  await askAll();
  const token = mails
    .filter(({ to }) => to === email)
    .map(({ text }) => /\/email\/([\w-]{43})/.exec(text)?.[1] ?? '');
  expect(token).toHaveLength(2);
  for (const each of token) await confirmRecipient(store.writer, each);
  await unsubscribeRecipient(store.writer, tokenFor(email));
  for (const { account_id } of await findOtherAccounts(store.writer, email))
    await unsubscribeFromAccount(store.writer, account_id, email);
  for (const [accountId, { id }] of [
    [one, first],
    [two, second],
  ] as const)
    expect((await openDestination(store.writer, secret, accountId, id))?.recipients).toEqual([]);
  const sent = mails.length;
  for (const [accountId, name] of [
    [one, 'Other'],
    [two, 'Other'],
    [await store.account(), 'New'],
  ] as const) {
    const { destination } = await add(accountId, name, ['Gone@example.com']);
    expect(destination.recipients).toMatchObject([{ email, state: 'unsubscribed' }]);
    expect(await within(accountId, (made) => askAgain(made, destination.id))).toEqual([]);
  }
  expect(await askAll()).toBe(0);
  expect(mails).toHaveLength(sent);
  // They can change their mind, for this destination alone.
  await store.writer.query(
    `update destination_recipient set confirmed_at = confirmed_at - interval '1 minute' where email = $1`,
    [email],
  );
  await confirmRecipient(store.writer, token[0] ?? '');
  const ends = await Promise.all(
    (
      [
        [one, first],
        [two, second],
      ] as const
    ).map(
      async ([accountId, { id }]) =>
        (await openDestination(store.writer, secret, accountId, id))?.recipients.length,
    ),
  );
  expect(ends.toSorted()).toEqual([0, 1]);
});

test('an inbox gets few links a day from all accounts, whatever tags its address has', async () => {
  const ask = async (email: string) => add(await store.account(), 'Mail', [email]);
  for (const tag of ['', '+1', '+2', '+other']) await ask(`inbox${tag}@example.com`);
  await expect(
    add(await store.account(), 'Mail', ['inbox+5@example.com', 'inbox+6@example.com']),
  ).rejects.toThrow('The inbox of one of these recipients got 5 links to confirm within 24 hours');
  await ask('INBOX+7@example.com');
  await expect(ask('inbox@example.com')).rejects.toThrow('ask again tomorrow');
  await ask('inbox@elsewhere.example.com');
  for (const spelt of [
    'adabyron@gmail.com',
    'a.dabyron@gmail.com',
    'Ada.Byron+9@GoogleMail.com',
    'ada.b.yron@gmail.com',
    'adab.yron@gmail.com',
  ])
    await ask(spelt);
  await expect(ask('a.d.a.b.y.r.o.n@googlemail.com')).rejects.toThrow('ask again tomorrow');
  const root = await store.superuser('store');
  await root.query(`update asked_inbox set at = at - interval '25 hours'`);
  await ask('inbox+8@example.com');
});
