import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settingProblems } from '../../test/support/setting-problems.ts';
import { readConfig } from './config.ts';
import { parseSmtpUrl } from './mail-settings.ts';

test.each([
  ['smtp://mail.example.com', { host: 'mail.example.com', port: 587, tls: 'starttls', login: null }],
  ['smtp://mail:25?tls=none', { host: 'mail', port: 25, tls: 'none', login: null }],
  ['smtps://[2001:db8::1]/', { host: '2001:db8::1', port: 465, tls: 'tls', login: null }],
  ['smtp://LOCALHOST:2525', { host: 'LOCALHOST', port: 2525, tls: 'if-offered', login: null }],
  ['smtp://127.0.0.2', { host: '127.0.0.2', port: 587, tls: 'if-offered', login: null }],
  ['smtp://[::1]', { host: '::1', port: 587, tls: 'if-offered', login: null }],
  ['smtps://localhost', { host: 'localhost', port: 465, tls: 'tls', login: null }],
  ['smtp://127.0.0.1.example.com', { tls: 'starttls' }],
  ['smtp://localhost.example.com', { tls: 'starttls' }],
  [
    'smtps://ada%40example.com:%3A%2F%40%23@mail.example.com:2465',
    { port: 2465, login: { user: 'ada@example.com', password: ':/@#' } },
  ],
])('%s is a server', (text, server) => {
  expect(parseSmtpUrl(text)).toMatchObject(server);
});

test.each([
  'mail.example.com',
  'https://ada:hunter2@mail.example.com',
  'smtp://',
  'smtp://ada:hunter2@',
  'smtp://ada:hunter2@mail.example.com/inbox',
  'smtp://ada:hunter2@mail.example.com?tls=off',
  'smtp://ada:hunter2@mail.example.com?tls=none&pool=true',
  'smtps://ada:hunter2@mail.example.com?tls=none',
  'smtp://ada:hunter2@mail.example.com#x',
  'smtp://ada:hunter2%@mail.example.com',
  'smtp://ada:hunter2%0d%0aRSET@mail.example.com',
  'smtp://ada:hunter2@mail.example.com:70000',
  'smtp://ada:hunter2@mail%20x.example.com',
])('%s is not', (text) => {
  const problems = settingProblems({ DBVITALS_SMTP_URL: text, DBVITALS_MAIL_FROM: 'a@example.com' });
  expect(problems).toEqual([
    expect.stringMatching(/^DBVITALS_SMTP_URL must be smtp:\/\/user:password@host:587 or .*\.$/),
  ]);
  expect(problems.join()).not.toMatch(/hunter2|example/);
});

test('a user needs a password, and a password a user', () => {
  for (const login of ['ada@', ':hunter2@'])
    expect(
      settingProblems({ DBVITALS_SMTP_URL: `smtp://${login}mail`, DBVITALS_MAIL_FROM: 'a@example.com' }),
    ).toEqual(['DBVITALS_SMTP_URL must have a user and a password, or neither.']);
});

test('the sender is the user if that is an address, and required otherwise', () => {
  const { mailFrom } = readConfig({ DBVITALS_SMTP_URL: 'smtp://ada%40example.com:x@mail' });
  expect(mailFrom).toBe('ada@example.com');
  for (const login of ['', 'ada:x@'])
    expect(settingProblems({ DBVITALS_SMTP_URL: `smtp://${login}mail` })).toEqual([
      "DBVITALS_SMTP_URL also needs DBVITALS_MAIL_FROM: the sender's address, such as dbvitals@example.com.",
    ]);
  const named = 'Dbvitals of Ada Ltd <dbvitals@example.com>';
  expect(readConfig({ DBVITALS_SMTP_URL: 'smtp://mail', DBVITALS_MAIL_FROM: named }).mailFrom).toBe(named);
  expect(settingProblems({ DBVITALS_MAIL_FROM: 'a@example.com' })).toEqual([
    'DBVITALS_MAIL_FROM also needs DBVITALS_SMTP_URL or DBVITALS_SMTP_URL_FILE.',
  ]);
});

test.each([
  'ada',
  'a@b@c',
  'Ada <a@example.com>, Bob <b@example.com>',
  'a@example.com\r\nBcc: b@example.com',
  '<>',
])('%j is not a sender', (text) => {
  expect(settingProblems({ DBVITALS_SMTP_URL: 'smtp://mail', DBVITALS_MAIL_FROM: text })).toEqual([
    expect.stringMatching(/^DBVITALS_MAIL_FROM must be an e-mail address, .*\.$/),
  ]);
});

test('the URL may be in a file, and only there', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-mail-'));
  try {
    const file = join(folder, 'smtp-url');
    const settings = { DBVITALS_SMTP_URL_FILE: file, DBVITALS_MAIL_FROM: 'a@example.com' };
    expect(settingProblems(settings)).toEqual([
      'DBVITALS_SMTP_URL_FILE cannot be read (ENOENT): name a readable file.',
    ]);
    writeFileSync(file, 'smtp://ada:hunter2@mail\n');
    expect(readConfig(settings).smtpUrl).toBe('smtp://ada:hunter2@mail');
    expect(settingProblems({ ...settings, DBVITALS_SMTP_URL: 'smtp://mail' })).toEqual([
      'Set DBVITALS_SMTP_URL or DBVITALS_SMTP_URL_FILE, not both.',
    ]);
    writeFileSync(file, 'hunter2');
    const [problem, ...others] = settingProblems(settings);
    expect(others).toEqual([]);
    expect(problem).toMatch(/^DBVITALS_SMTP_URL_FILE must be smtp:/);
    expect(problem).not.toContain('hunter2');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
