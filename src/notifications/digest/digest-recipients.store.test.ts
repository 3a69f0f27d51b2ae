import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { addDestination } from '../destinations/add-destination.ts';
import { confirmRecipient, unsubscribeRecipient } from '../destinations/answer-recipient.ts';
import { askRecipients } from '../destinations/ask-recipients.ts';
import { changeDestination } from '../destinations/change-destination.ts';
import { firstRow, rowsOf, runDispatcher } from '../dispatch/dispatcher-fixture.ts';
import { failedAttempt } from '../sending/failed-attempt.ts';
import type { MailMessage, Send } from '../sending/outgoing.ts';
import { digestRound } from './digest-rounds.ts';

let store: TestStore;
let dispatcher: { stop(): Promise<void> };
const mails: MailMessage[] = [];
const rules = { allowPrivate: false };

const send: Send = async (request) => {
  if (request.protocol === 'smtp') mails.push(...request.messages);
  return { ...failedAttempt('', performance.now()), accepted: true };
};

beforeAll(async () => {
  store = await startTestStore();
  dispatcher = runDispatcher(store, send);
});
afterAll(async () => {
  await dispatcher?.stop();
  await store?.stop();
});

/** The token in the link of the newest mail to an address. */
function tokenFor(email: string): string {
  const mail = mails.findLast(({ to }) => to === email);
  return /\/email\/([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? '';
}

test('a digest goes to recipients who confirmed, not to one who unsubscribed, was removed, or was asked by a dismissed member', async () => {
  const accountId = await store.account();
  const { secret } = store.deps;
  const [member] = await rowsOf<{ id: number }>(
    store,
    `insert into member (account_id, name, email, roles, status, joined_at)
     values ($1, 'Eve', 'eve@example.com', '{admin}', 'active', now()) returning member_id as id`,
    [accountId],
  );
  const within = <T>(work: (change: Change) => Promise<T>) => changeAccount(store.writer, accountId, work);
  const all = ['stays', 'leaves', 'removed', 'hers'].map((name) => `${name}@example.com`);
  const digest = { every: 'mon', at: '07:00', time_zone: 'UTC' } as const;
  const { destination } = await within((made) =>
    addDestination({ ...made, memberId: member?.id ?? 0 }, secret, rules, {
      name: 'Mail',
      channel: 'email',
      recipients: all,
      digest,
    }),
  );
  await askRecipients({
    writer: store.writer,
    secret,
    send,
    consoleUrl: () => 'https://dbvitals.example.com',
  });
  for (const email of ['stays@example.com', 'leaves@example.com', 'removed@example.com'])
    await confirmRecipient(store.writer, tokenFor(email));
  await rowsOf(store, 'delete from member where account_id = $1 returning 1', [accountId]);
  await expect(confirmRecipient(store.writer, tokenFor('hers@example.com'))).rejects.toThrow(
    'no longer valid',
  );
  await unsubscribeRecipient(store.writer, tokenFor('leaves@example.com'));
  const recipients = all.filter((email) => email !== 'removed@example.com');
  await within((made) => changeDestination(made, secret, rules, destination.id, { recipients }));

  mails.length = 0;
  await rowsOf(
    store,
    `update destination_queue set digest_due_at = date_trunc('second', now()) where account_id = $1 returning 1`,
    [accountId],
  );
  await digestRound(store.writer);
  await firstRow(store, `select 1 as there from delivery where account_id = $1 and state = 'accepted'`, [
    accountId,
  ]);
  expect(mails.map(({ to }) => to)).toEqual(['stays@example.com']);
  expect(mails[0]?.text).toContain('Nothing opened, and nothing is open.');
});
