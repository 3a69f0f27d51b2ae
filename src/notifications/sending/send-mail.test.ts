import { hostname } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import type { MailMessage } from './outgoing.ts';
import { shortenLimits, trustReceivers } from './receiver-fixture.ts';
import { openMailer } from './send-mail.ts';
import { type SmtpFixture, startSmtp } from './smtp-fixture.ts';

trustReceivers();

const open: SmtpFixture[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function serve(...given: Parameters<typeof startSmtp>): Promise<SmtpFixture> {
  const server = await startSmtp(...given);
  open.push(server);
  return server;
}

function message(to: string, more: Partial<MailMessage> = {}): MailMessage {
  return {
    to,
    subject: 'Down',
    text: 'It is down.',
    html: '<p>It is down.</p>',
    headers: { 'Message-ID': '<1@x>' },
    ...more,
  };
}

const FROM = 'dbvitals <dbvitals@example.com>';
const BOB = message('bob@example.com');

function send(url: string, ...messages: MailMessage[]) {
  const mailer = openMailer(url, FROM);
  if (mailer === null) throw new Error('not set up');
  return mailer.send({ protocol: 'smtp', messages });
}

test('messages are sent with STARTTLS, a login and one recipient each', async () => {
  const { port, lines } = await serve();
  const sent = await send(`smtp://ada:hunter2@localhost:${port}`, BOB, message('eve@example.com'));
  expect(sent).toMatchObject({ status: 250, accepted: true, result: '250 Accepted for 2 of 2 recipients.' });
  expect(sent.response).toBe(
    'bob@example.com: 250 2.0.0 queued as 1 | eve@example.com: 250 2.0.0 queued as 1',
  );
  const plain = Buffer.from('\0ada\0hunter2').toString('base64');
  expect(lines.indexOf('STARTTLS')).toBeLessThan(lines.indexOf(`AUTH PLAIN ${plain}`));
  expect(
    lines
      .filter((line) => line.startsWith('MAIL'))
      .every((line) => line.startsWith('MAIL FROM:<dbvitals@example.com>')),
  ).toBe(true);
  expect(lines.filter((line) => line.startsWith('RCPT')).toSorted()).toEqual([
    'RCPT TO:<bob@example.com>',
    'RCPT TO:<eve@example.com>',
  ]);
  expect(JSON.stringify(sent)).not.toContain('hunter2');
});

test('the connections of a job are few, and end with it', async () => {
  const server = await serve();
  const many = Array.from({ length: 20 }, (_, place) => message(`a${place}@example.com`));
  expect(await send(`smtp://localhost:${server.port}`, ...many)).toMatchObject({ accepted: true });
  expect(server.connections).toBeLessThanOrEqual(5);
});

test('no text adds a header, a recipient or a command', async () => {
  const { port, lines } = await serve();
  const evil = 'x\r\nBcc: eve@example.com\r\n\r\n.\r\nMAIL FROM:<eve@example.com>';
  const headers = {
    'X-A': evil,
    Bcc: 'eve@example.com',
    'x\r\nCc': 'eve@example.com',
    'Content-Type': 'text/x',
    Sender: 'eve@example.com',
  };
  const sent = await send(
    `smtp://localhost:${port}`,
    message('bob@example.com', { subject: evil, headers, text: evil, html: evil }),
  );
  expect(sent).toMatchObject({ accepted: true });
  expect(lines.filter((line) => /^(?:MAIL|RCPT|DATA)/.test(line))).toEqual([
    expect.stringMatching(/^MAIL FROM:<dbvitals@example.com>/),
    'RCPT TO:<bob@example.com>',
    'DATA',
    expect.stringMatching(/^MAIL FROM:<eve/), // in the text,
    expect.stringMatching(/^MAIL FROM:<eve/), // and in HTML
  ]);
  const head = lines.slice(lines.indexOf('DATA'), lines.indexOf('', lines.indexOf('DATA')));
  expect(head.filter((line) => /^(?:bcc|cc|sender):/i.test(line))).toEqual([]);
  expect(lines.filter((line) => line === '.')).toHaveLength(1);
});

test.each([
  'bob@example.com\r\nRCPT TO:<eve@example.com>',
  'bob@example.com, eve@example.com',
  '<bob@example.com>',
  'bob',
])('%j is not a recipient', async (to) => {
  const server = await serve();
  expect(await send(`smtp://localhost:${server.port}`, message(to))).toMatchObject({
    status: null,
    accepted: false,
    result: expect.stringMatching(/^The recipient <?bob.* is not an e-mail address\.$/),
  });
  expect(server.lines).toEqual([]);
});

const LOGIN = 'ada:hunter2@';
test.each([
  [
    'a wrong password',
    { AUTH: '535 5.7.8 wrong hunter2' },
    535,
    'The SMTP server refused the user name or password of DBVITALS_SMTP_URL (535).',
  ],
  [
    'a login later',
    { AUTH: '454 4.7.0 later' },
    454,
    'The SMTP server could not check the user name and password for now (454).',
  ],
  [
    'an unknown recipient',
    { RCPT: '550 5.1.1 no such user' },
    550,
    'The SMTP server refused the recipient bob@example.com: “550 5.1.1 no such user”.',
  ],
  [
    'greylisting',
    { RCPT: '450 4.2.0 try again' },
    450,
    'The SMTP server refused the recipient bob@example.com for now: “450 4.2.0 try again”.',
  ],
  [
    'a wrong sender',
    { MAIL: '553 5.7.1 not yours' },
    553,
    'The SMTP server refused the sender of DBVITALS_MAIL_FROM: “553 5.7.1 not yours”.',
  ],
  [
    'a message that is too large',
    { body: '552 5.3.4 too large' },
    552,
    'The SMTP server refused the message: “552 5.3.4 too large”.',
  ],
  [
    'a message later',
    { body: '451 4.3.0 full' },
    451,
    'The SMTP server refused the message: “451 4.3.0 full”.',
  ],
  [
    'a busy server',
    { greeting: '421 4.3.2 busy' },
    421,
    'The SMTP server is not available for now: “421 4.3.2 busy”.',
  ],
])('%s', async (_what, replies, status, result) => {
  const { port } = await serve(replies);
  const sent = await send(`smtp://${LOGIN}localhost:${port}?tls=none`, BOB);
  expect(sent).toMatchObject({ status, accepted: false, result });
  expect(JSON.stringify(sent)).not.toContain('hunter2');
});

test.each([
  [
    'nothing listens',
    'smtp://localhost:1',
    'The SMTP server refused the connection (ECONNREFUSED): nothing listens on that port.',
  ],
  [
    'no such host',
    'smtp://nosuch.invalid',
    /^The SMTP server can't be found|^The address of the SMTP server could not be resolved/,
  ],
])('%s', async (_what, url, result) => {
  expect((await send(url, BOB)).result).toMatch(result);
});

test.each([
  [
    'silent',
    { greeting: null },
    { connectMs: 2_000 },
    'The SMTP server did not greet within 2 s: if it expects TLS from the start, use smtps:// in DBVITALS_SMTP_URL.',
  ],
  ['silent later', { MAIL: null }, { wholeMs: 3_000 }, 'The SMTP server did not answer within 3 s.'],
])('a server that is %s', async (_what, replies, limits, result) => {
  shortenLimits(limits);
  const { port } = await serve(replies);
  expect(await send(`smtp://localhost:${port}`, BOB)).toMatchObject({ accepted: false, result });
});

test.each([
  ['not SMTP', { greeting: 'SSH-2.0-x' }, /^The SMTP server (?:did not answer in SMTP|failed).*/],
  ['endless', { greeting: `220-${'x'.repeat(80_000)}` }, 'The SMTP server did not answer in SMTP.'],
])('a server that is %s', async (_what, replies, result) => {
  const { port } = await serve(replies);
  const sent = await send(`smtp://localhost:${port}`, BOB);
  expect(sent.accepted).toBe(false);
  expect(sent.result).toMatch(result);
});

test.each([
  ['server', true, '250 Accepted for 1 of 1 recipients.'],
  ['server', false, '250 Accepted for 1 of 1 recipients.'],
  ['hooks', true, 'The certificate of the SMTP server is for another name (hooks.example.com).'],
  ['hooks', false, 'The certificate of the SMTP server is for another name (hooks.example.com).'],
  ['expired', true, 'The certificate of the SMTP server expired on 2025-03-01.'],
  ['expired', false, 'The certificate of the SMTP server expired.'],
  ['renewed', true, /^The certificate of the SMTP server is self-signed: add/],
  ['renewed', false, /^The certificate of the SMTP server is self-signed: add/],
])('the certificate %s, TLS from the start: %s', async (certificate, isTls, result) => {
  const { port, lines } = await serve({}, { certificate, isTls });
  expect((await send(`${isTls ? 'smtps' : 'smtp'}://${LOGIN}localhost:${port}`, BOB)).result).toMatch(result);
  const isSent = lines.some((line) => /^(?:AUTH|MAIL)/.test(line));
  expect(isSent).toBe(certificate === 'server');
});

test('a server elsewhere must offer STARTTLS: no password is sent without', async () => {
  const { port, lines } = await serve({ EHLO: '250-x\r\n250 AUTH PLAIN', STARTTLS: '502 no' });
  const here = hostname(); // not a loopback name, although it may be one
  const sent = await send(`smtp://${LOGIN}${here}:${port}`, BOB);
  expect(sent.accepted).toBe(false);
  if (lines.length > 0) {
    expect(sent.result).toBe(
      'The SMTP server does not offer STARTTLS: use smtps:// in DBVITALS_SMTP_URL, or add ?tls=none to send without encryption.',
    );
  }
  expect(lines.filter((line) => /^(?:AUTH|MAIL)/.test(line))).toEqual([]);
});

test('a recipient who is refused for good does not stop the others, nor send them the message again', async () => {
  const { port } = await serve(
    (line) => (line.startsWith('RCPT TO:<eve') ? '550 5.1.1 no' : undefined) as undefined,
  );
  expect(await send(`smtp://localhost:${port}`, BOB, message('eve@example.com'))).toMatchObject({
    status: 550,
    accepted: true,
    result:
      'Accepted for 1 of 2 recipients. The SMTP server refused the recipient eve@example.com: “550 5.1.1 no”.',
  });
});

test('after a failure for one recipient, the next attempt sends to that one only', async () => {
  let isGrey = true;
  const replies = (line: string) =>
    isGrey && line.startsWith('RCPT TO:<eve') ? '450 4.2.0 later' : undefined;
  const { port, lines } = await serve(replies);
  const mailer = openMailer(`smtp://localhost:${port}`, FROM);
  const job = { protocol: 'smtp' as const, messages: [BOB, message('eve@example.com')] };
  expect(await mailer?.send(job)).toMatchObject({ status: 450, accepted: false });
  isGrey = false;
  lines.length = 0;
  expect(await mailer?.send(job)).toMatchObject({
    accepted: true,
    response: 'bob@example.com: accepted earlier | eve@example.com: 250 2.0.0 queued as 1',
  });
  expect(lines.filter((line) => line.startsWith('RCPT'))).toEqual(['RCPT TO:<eve@example.com>']);
  lines.length = 0;
  expect(await mailer?.send(job)).toMatchObject({ accepted: true }); // sent again by a member
  expect(lines.filter((line) => line.startsWith('RCPT'))).toHaveLength(2);
});
