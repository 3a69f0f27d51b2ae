import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { settingProblems } from '../../test/support/setting-problems.ts';
import { parseSecrets } from './secret-key.ts';
import { decodeText } from './text-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-text-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key = 'ab'.repeat(32);
const line = `${key}\r\n`;
const utf16 = Buffer.from(`\ufeff${line}`, 'utf16le');

test.each<[string, Buffer]>([
  ['CRLF', Buffer.from(line)],
  ['a byte order mark', Buffer.from(`\ufeff${line}`)],
  ['a no-break space', Buffer.from(`${key}\u00a0\n`)],
  ['UTF-16', utf16],
  ['big-endian UTF-16', Buffer.from(utf16).swap16()],
  ['UTF-16 without a mark', utf16.subarray(2)],
  ['big-endian UTF-16 without a mark', Buffer.from(utf16.subarray(2)).swap16()],
  ['marks of a web page or a chat', Buffer.from(`\u200e${key}\u200b\n`)],
])('a key in a file with %s is read', (_, bytes) => {
  expect(parseSecrets('The file', decodeText(bytes))).toEqual([Buffer.from(key, 'hex')]);
});

const SETTINGS: Record<string, string> = {
  DATABASE_URL: 'postgres://u:unspoken@h/d',
  DBVITALS_POOLER_URL: 'postgres://u:unspoken@h/d',
  DBVITALS_SECRET_KEY: key,
  DBVITALS_SMTP_URL: 'smtp://u:unspoken@h:587',
  DBVITALS_OIDC_CLIENT_SECRET: 'unspoken',
  DBVITALS_API_KEY: 'unspoken',
  DBVITALS_MAIL_FROM: 'dbvitals@example.com',
  PORT: '8080',
};
const OTHERS = {
  DATABASE_URL: 'postgres://u:unspoken@h/d',
  DBVITALS_SECRET_KEY: key,
  DBVITALS_MAIL_FROM: 'dbvitals@example.com',
  DBVITALS_SMTP_URL: 'smtp://u:unspoken@h:587',
  DBVITALS_OIDC_ISSUER: 'https://login.example.com',
  DBVITALS_OIDC_CLIENT_ID: 'dbvitals',
  DBVITALS_OIDC_CLIENT_SECRET: 'unspoken',
  DBVITALS_PUBLIC_URL: 'https://dbvitals.example.com',
};

test.each(Object.entries(SETTINGS))('%s in quotes is named once, and is no other mistake', (name, value) => {
  expect(settingProblems({ ...OTHERS, [name]: value })).toEqual([]);
  for (const text of [`"${value}"`, ` '${value}'\n`, `\u201c${value}\u201d`])
    expect(settingProblems({ ...OTHERS, [name]: text })).toEqual([`${name} is in quotes: remove them.`]);
});

test.each(['DATABASE_URL', 'DBVITALS_SECRET_KEY', 'DBVITALS_SMTP_URL', 'DBVITALS_OIDC_CLIENT_SECRET'])(
  'the file of %s is read as any system writes it, and quotes in it are named',
  (name) => {
    const { [name]: value = '', ...others } = OTHERS as Record<string, string>;
    const file = join(folder, name);
    const problems = (bytes: Buffer | string) => {
      writeFileSync(file, bytes);
      return settingProblems({ ...others, [`${name}_FILE`]: file });
    };
    for (const text of [
      `\ufeff${value}\r\n`,
      Buffer.from(`\ufeff${value}\r\n`, 'utf16le'),
      `\u00a0${value}\u00a0`,
      `\u2066${value}\u2069\u200b\n`,
      Buffer.from(`${value}\r\n`, 'utf16le'),
    ])
      expect(problems(text)).toEqual([]);
    for (const text of [`"${value}"`, `'${value}'\r\n`]) {
      const [problem, ...more] = problems(text);
      expect(problem).toMatch(new RegExp(`file of ${name}_FILE is in quotes: remove them\\.$`));
      expect(more).toEqual([]);
    }
  },
);

test.each([
  ['jdbc:postgresql://h/d?user=u&password=unspoken', /: remove "jdbc:"/],
  ['host=h user=u password=unspoken', /: write the words host=…, user=… as a URL\.$/],
  ['postgresql+psycopg://u:unspoken@h/d', /without the name of a driver\.$/],
  ['"postgres://u:unspoken@h/d', /: remove the quotes\.$/],
  ['mysql://u:unspoken@h/d', /: the store is a PostgreSQL\.$/],
  ['psql postgres://u:unspoken@h/d', /: leave out the command before it\.$/],
  ['DATABASE_URL=postgres://u:unspoken@h/d', /: leave out the name of the variable before it\.$/],
])('what another program takes for the URL of the store is told how to write it: %s', (url, sentence) => {
  const [problem = '', ...more] = settingProblems({ DATABASE_URL: url, DBVITALS_SECRET_KEY: key });
  expect(problem).toMatch(/^DATABASE_URL must look like postgres:/);
  expect(problem).toMatch(sentence);
  expect(`${problem}${more}`).not.toContain('unspoken');
  expect(more).toEqual([]);
});

test.each([`"${key}"`, `'${key}'`, `\u201c${key}\u201d`])('a key in quotes is named: %s', (text) => {
  expect(() => parseSecrets('DBVITALS_SECRET_KEY', text)).toThrow(
    'DBVITALS_SECRET_KEY is in quotes: remove them.',
  );
});
