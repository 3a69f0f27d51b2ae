import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  CONTEXT,
  exampleDestination,
  exampleEvent,
} from '../../src/notifications/channels/message-event-fixture.ts';
import { debianProgram, RunningProgram } from './debian-program.ts';
import { accepts, freePort } from './opensmtpd.ts';
import { sendEvents, startTestSender } from './send.ts';

// OpenSMTPD of Debian 12 fails each TLS handshake (opensmtpd.ts), so STARTTLS and logins are tested with another server.
const CERTIFICATES = join(import.meta.dirname, '../certificates');
const PASSWORD = 'Gr8-w0rd of the tests';
let server: RunningProgram;
let port: number;

beforeAll(async () => {
  port = await freePort();
  const [script, pem, key] = [
    join(import.meta.dirname, 'login-server.py'),
    ...['server.pem', 'server.key'].map((name) => join(CERTIFICATES, name)),
  ];
  const options = [script ?? '', String(port), pem ?? '', key ?? '', PASSWORD];
  server = new RunningProgram(debianProgram('python3', 'python3-aiosmtpd'), options);
  await server.ready(() => accepts(port));
});

afterAll(() => server?.stop());

/** Sends a message with this password to this host; `trusts`: an authority's file. */
async function send(password: string, host: string, trusts: string | undefined) {
  const before = process.env['NODE_EXTRA_CA_CERTS'];
  process.env['NODE_EXTRA_CA_CERTS'] = trusts ?? '';
  const sender = startTestSender(`smtp://watcher:${encodeURIComponent(password)}@${host}:${port}`);
  const recipients = [{ email: 'ada@example.com', token: 'token' }];
  try {
    const destination = exampleDestination({ channel: 'email', recipients });
    return await sendEvents(sender, destination, [exampleEvent()], CONTEXT);
  } finally {
    await sender.stop();
    if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
    else process.env['NODE_EXTRA_CA_CERTS'] = before;
  }
}

const AUTHORITY = join(CERTIFICATES, 'authority.pem');

test('a message is accepted after STARTTLS and the login', async () => {
  expect(await send(PASSWORD, 'localhost', AUTHORITY)).toMatchObject({ accepted: true, status: 250 });
});

test('a wrong password is said so, and shown nowhere', async () => {
  const sent = await send('not-the-password', 'localhost', AUTHORITY);
  expect(sent).toMatchObject({
    accepted: false,
    status: 535,
    result: 'The SMTP server refused the user name or password of DBVITALS_SMTP_URL (535).',
  });
  expect(JSON.stringify(sent)).not.toContain('not-the-password');
});

test('a certificate that nobody trusts, or of another host, is refused before the password is sent', async () => {
  const untrusted = await send(PASSWORD, 'localhost', undefined);
  expect(untrusted).toMatchObject({ accepted: false, status: null });
  expect(untrusted.result).toMatch(/certificate of the SMTP server/i);
  const other = await send(PASSWORD, '127.0.0.1', AUTHORITY);
  expect(other).toMatchObject({ accepted: false, status: null });
  expect(other.result).toMatch(/certificate/i);
});
