import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessageEvent } from '../../src/notifications/channels/channel.ts';
import { confirmationMail } from '../../src/notifications/channels/mail/confirmation-mail.ts';
import {
  CONTEXT,
  exampleAlert,
  exampleDestination,
  exampleEvent,
  RESOLVED_ALERT,
  TEST_EVENT,
} from '../../src/notifications/channels/message-event-fixture.ts';
import { PAGE_LINKS } from '../../src/vocabulary/page-paths.ts';
import { OpenSmtpd } from './opensmtpd.ts';
import { sendEvents, startTestSender } from './send.ts';

let server: OpenSmtpd;
let sender: ReturnType<typeof startTestSender>;

beforeAll(async () => {
  server = await OpenSmtpd.start();
  sender = startTestSender(server.url);
});

afterAll(async () => {
  await sender?.stop();
  await server?.stop();
});

/** Sends events to these mailboxes of example.com. */
async function send(users: readonly string[], ...events: MessageEvent[]): Promise<void> {
  const recipients = users.map((user) => ({ email: `${user}@example.com`, token: `token-of-${user}` }));
  const destination = exampleDestination({ channel: 'email', recipients });
  const sent = await sendEvents(sender, destination, events, CONTEXT);
  expect(sent).toMatchObject({ accepted: true, status: 250 });
}

test('both parts of a delivered message are whole, and its headers are those of the standards', async () => {
  await send(['ada'], exampleEvent({ details: { title: 'Eine Tabelle hält viele tote Zeilen 🐘' } }));
  const [mail] = await server.mailbox('ada', 1);
  expect(mail?.types).toEqual(['multipart/alternative', 'text/plain', 'text/html']);
  expect(mail?.headers).toMatchObject({
    from: 'dbvitals <dbvitals@example.com>',
    to: 'ada@example.com',
    subject: 'Warning on orders: Eine Tabelle hält viele tote Zeilen 🐘',
    'message-id': expect.stringMatching(/^<evt_Gk1x0OqXl9\.[^@\s]+@dbvitals\.example\.com>$/),
    'auto-submitted': 'auto-generated',
    'list-unsubscribe': '<https://dbvitals.example.com/console/api/email/token-of-ada/unsubscribe>',
    'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
  });
  for (const part of [mail?.text, mail?.html]) {
    for (const text of [
      'Warning on orders: Eine Tabelle hält viele tote Zeilen 🐘',
      'orders (db-2.example.com:5432)',
      'public.orders',
      '31 %, at or above the threshold of 20 %',
      '2026-03-02 10:15:00 UTC',
      'Changed in the 24 hours before',
      'Setting work_mem: 4MB → 64MB',
      'VACUUM (ANALYZE) public.orders;',
      'https://dbvitals.example.com/tickets?status=all',
      'dbvitals, account Acme',
      'https://dbvitals.example.com/email/token-of-ada',
    ]) {
      expect(part).toContain(text);
    }
  }
});

test('what belongs to an alert is one thread, and every message has an id of its own', async () => {
  const reminder = exampleAlert({ event_id: 'evt_reminder', details: { is_reminder: true } });
  await send(['grace'], exampleAlert({ event_id: 'evt_begin' }));
  await send(['grace'], reminder);
  await send(['grace'], RESOLVED_ALERT);
  await send(['grace'], exampleEvent({ event_id: 'evt_ticket' }));
  const mails = await server.mailbox('grace', 4);
  const headers = (name: string) => mails.map((mail) => mail.headers[name]);
  expect(new Set(headers('message-id')).size).toBe(4);
  const bySubject = (words: string) =>
    mails.find((mail) => mail.headers['subject']?.startsWith(words))?.headers;
  const begin = bySubject('Critical alert on orders: Score below 50');
  const root = begin?.['references'];
  expect(root).toMatch(/^<[^@\s]+@dbvitals\.example\.com>$/);
  for (const words of ['Still critical on orders', 'Alert resolved on orders']) {
    expect(bySubject(words)).toMatchObject({ references: root, 'in-reply-to': root });
  }
  expect(bySubject('Warning on orders')?.['references']).not.toBe(root);
  expect(headers('message-id')).not.toContain(root);
});

test('a message that is sent again has the same id', async () => {
  const event = exampleAlert({ event_id: 'evt_again' });
  await send(['again'], event);
  await send(['again'], event);
  const [first, second] = await server.mailbox('again', 2);
  expect(first?.headers['message-id']).toBe(second?.headers['message-id']);
});

test('each recipient gets a message of their own, with their own link only', async () => {
  await send(['mary', 'joan'], exampleAlert());
  for (const [user, other] of [
    ['mary', 'joan'],
    ['joan', 'mary'],
  ] as const) {
    const [mail] = await server.mailbox(user, 1);
    expect(mail?.headers['to']).toBe(`${user}@example.com`);
    expect(mail?.raw).not.toContain(other);
    expect(mail?.text).toContain(`/email/token-of-${user}`);
  }
});

test('hostile names add no header, no recipient and no markup', async () => {
  const name =
    'x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script> =?utf-8?Q?=0D=0ABcc:_v?= \u202e';
  await send(
    ['linus'],
    exampleEvent({ changes: [name], details: { title: name, object: name, remediation: `.\r\n${name}` } }),
  );
  const [mail] = await server.mailbox('linus', 1);
  expect(mail?.headers['bcc']).toBeUndefined();
  expect(mail?.headers['subject']).toMatch(/^Warning on orders: x Bcc: victim@example\.com <script>/);
  expect(mail?.headers['subject']).not.toMatch(/[\r\n\u202e]/);
  expect(mail?.counts).toMatchObject({ to: 1, from: 1, subject: 1, 'message-id': 1, references: 1 });
  expect(mail?.html).not.toContain('<script>');
  expect(mail?.types).toEqual(['multipart/alternative', 'text/plain', 'text/html']);
  await expect(server.mailbox('victim', 0)).resolves.toEqual([]);
});

test('a group lists the worst first, and has no thread', async () => {
  const tickets = Array.from({ length: 150 }, (_, id) =>
    exampleEvent({ event_id: `evt_${id}`, ticket_id: id }),
  );
  await send(['group'], ...tickets, exampleAlert(), RESOLVED_ALERT);
  const [mail] = await server.mailbox('group', 1);
  expect(mail?.headers['subject']).toBe(
    'Critical alert on orders: Score below 50, and 151 more (150 warnings, 1 ended) in Acme',
  );
  expect(mail?.headers['references']).toBeUndefined();
  expect(mail?.text.indexOf('Critical alert')).toBeLessThan(mail?.text.indexOf('Warning on orders') ?? 0);
  for (const part of [mail?.text, mail?.html]) expect(part).toContain('… and 32 more events.');
});

test('a test says that it is one; a confirmation has a link, and no link but that', async () => {
  await send(['test'], TEST_EVENT);
  const [mail] = await server.mailbox('test', 1);
  expect(mail?.headers['subject']).toBe('Test message from dbvitals');
  for (const part of [mail?.text, mail?.html]) expect(part).toContain('This is a test. Nothing happened');
  const asked = { email: 'asked@example.com', token: 't0', destination: 'https://evil.example/ free pills' };
  const message = confirmationMail(asked, { ...CONTEXT, account: 'www.evil.example' });
  expect(await sender.send({ protocol: 'smtp', messages: [message] })).toMatchObject({ accepted: true });
  const [question] = await server.mailbox('asked', 1);
  expect(question?.text).toContain('Confirm: https://dbvitals.example.com/email/t0');
  expect(question?.html.match(/href="[^"]*"/g)).toEqual(['href="https://dbvitals.example.com/email/t0"']);
  expect(question?.raw).not.toContain('evil.example');
});

test('a digest is a message of its own, whose parts say the same, and hostile names stay text', async () => {
  const name = 'x\r\nBcc: victim@example.com\r\n\r\n<script>alert(1)</script> https://evil.example \u202e';
  const line = { text: `critical: ${name}: Sequence nearly exhausted, for 2 d`, path: PAGE_LINKS.ticket(31) };
  const digest = {
    title: 'Acme: 23 November 2026 to 30 November 2026',
    summary: ['12 databases, score 98, 97 before. Opened: 1 critical.', 'Backups: all 8 as expected.'],
    parts: [{ heading: 'Still open (the first 1 of 9)', lines: [line] }],
  };
  await send(['weekly'], exampleEvent({ kind: 'digest', details: { page: PAGE_LINKS.fleet(), digest } }));
  const [mail] = await server.mailbox('weekly', 1);
  expect(mail?.types).toEqual(['multipart/alternative', 'text/plain', 'text/html']);
  expect(mail?.headers['subject']).toBe(digest.title);
  expect(mail?.headers['bcc']).toBeUndefined();
  expect(mail?.headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
  for (const part of [mail?.text, mail?.html]) {
    for (const text of [digest.title, ...digest.summary, 'Still open (the first 1 of 9)', 'Sequence nearly'])
      expect(part).toContain(text);
    expect(part).toContain('https://dbvitals.example.com/email/token-of-weekly');
  }
  expect(mail?.text).toContain('https://dbvitals.example.com/tickets?status=all&ticket=31');
  expect(mail?.html).not.toMatch(/<script>|evil\.example"|<img|<link/);
  await send(['quiet'], exampleEvent({ kind: 'digest', details: { digest: { ...digest, parts: [] } } }));
  const [quiet] = await server.mailbox('quiet', 1);
  expect(quiet?.text.split('\n').slice(2, 4)).toEqual(digest.summary);
});
