import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settingProblems } from '../../test/support/setting-problems.ts';
import { readConfig } from './config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-sign-on-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const WHOLE = {
  DBVITALS_PUBLIC_URL: 'https://dbvitals.example.com',
  DBVITALS_OIDC_ISSUER: 'https://login.example.com/realms/main',
  DBVITALS_OIDC_CLIENT_ID: 'dbvitals',
  DBVITALS_OIDC_CLIENT_SECRET: 'hunter2',
};
const { DBVITALS_OIDC_CLIENT_SECRET: _secret, ...SECRETLESS } = WHOLE;

test('single sign-on needs four settings; the secret may be in a file', () => {
  const file = join(folder, 'secret');
  writeFileSync(file, ' hunter2\n');
  const wanted = {
    issuer: 'https://login.example.com/realms/main',
    clientId: 'dbvitals',
    clientSecret: 'hunter2',
    publicUrl: 'https://dbvitals.example.com',
  };
  expect(readConfig(WHOLE).singleSignOn).toEqual(wanted);
  expect(readConfig({ ...SECRETLESS, DBVITALS_OIDC_CLIENT_SECRET_FILE: file }).singleSignOn).toEqual(wanted);
  expect(readConfig({ DBVITALS_OIDC_ISSUER: ' ' }).singleSignOn).toBeNull();
});

test.each(Object.keys(WHOLE))('without %s it names the missing setting', (name) => {
  const { [name]: _left, ...rest } = WHOLE as Record<string, string>;
  const lacking = name.replace('_SECRET', '_SECRET (or _FILE)');
  expect(settingProblems(rest)).toEqual([
    expect.stringContaining(`also needs ${lacking} for single sign-on.`),
  ]);
});

test('the public URL may be set without single sign-on, for links', () => {
  const { publicUrl, singleSignOn } = readConfig({ DBVITALS_PUBLIC_URL: 'https://dbvitals.example.com' });
  expect([publicUrl, singleSignOn]).toEqual(['https://dbvitals.example.com', null]);
  expect(settingProblems({ DBVITALS_PUBLIC_URL: 'dbvitals.example.com' })).toEqual([
    expect.stringMatching(/^DBVITALS_PUBLIC_URL must be the origin .*\.$/),
  ]);
});

test('the secret may be set only once', () => {
  expect(settingProblems({ ...WHOLE, DBVITALS_OIDC_CLIENT_SECRET_FILE: '/dev/null' })).toEqual([
    'Set DBVITALS_OIDC_CLIENT_SECRET or DBVITALS_OIDC_CLIENT_SECRET_FILE, not both.',
  ]);
});

test.each([
  'login.example.com',
  'http://login.example.com',
  'https://user:hunter2@login.example.com',
  'https://login.example.com/?realm=main',
  'https://login.example.com/#main',
  'ftp://localhost',
  'http://127.0.0.1.example.com',
])('%s is not an issuer', (issuer) => {
  const problems = settingProblems({ ...WHOLE, DBVITALS_OIDC_ISSUER: issuer });
  expect(problems).toEqual([expect.stringMatching(/^DBVITALS_OIDC_ISSUER must be the https URL .*\.$/)]);
  expect(problems.join()).not.toContain('hunter2');
});

test.each([
  'https://dbvitals.example.com/',
  'https://dbvitals.example.com/console',
  'http://dbvitals.example.com',
  'x',
])('%s is not a public URL', (publicUrl) => {
  expect(settingProblems({ ...WHOLE, DBVITALS_PUBLIC_URL: publicUrl })).toEqual([
    expect.stringMatching(/^DBVITALS_PUBLIC_URL must be the origin .*\.$/),
  ]);
});

test.each(['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080'])(
  '%s is safe, because it stays on this machine',
  (origin) => {
    const { singleSignOn } = readConfig({
      ...WHOLE,
      DBVITALS_PUBLIC_URL: origin,
      DBVITALS_OIDC_ISSUER: origin,
    });
    expect(singleSignOn).toMatchObject({ issuer: origin, publicUrl: origin });
  },
);

test('a missing secret file, or one with more than one word, is reported', () => {
  const file = join(folder, 'secret');
  const problems = () => settingProblems({ ...SECRETLESS, DBVITALS_OIDC_CLIENT_SECRET_FILE: file });
  expect(problems()).toEqual([
    'DBVITALS_OIDC_CLIENT_SECRET_FILE cannot be read (ENOENT): name a readable file.',
  ]);
  for (const text of ['', '\n', 'hunter2\nhunter3']) {
    writeFileSync(file, text);
    expect(problems()).toEqual(['DBVITALS_OIDC_CLIENT_SECRET_FILE must contain only the client secret.']);
  }
});
