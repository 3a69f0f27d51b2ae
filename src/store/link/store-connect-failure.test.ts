import { expect, test } from 'vitest';
import { connectFailure, ONLY_STORE } from './store-connect-failure.ts';

const failure = (message: string, code?: string) => Object.assign(new Error(message), code ? { code } : {});

test.each([
  [
    failure('self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'),
    /authority that this machine trusts .*sslrootcert=/,
  ],
  [failure('unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), /sslrootcert=/],
  [failure('Hostname/IP does not match', 'ERR_TLS_CERT_ALTNAME_INVALID'), /for another host name/],
  [failure('certificate has expired', 'CERT_HAS_EXPIRED'), /not valid now/],
  [
    failure('The server does not support SSL connections'),
    /^The store offers no TLS: .*sslmode=disable in DATABASE_URL\.$/,
  ],
  [failure('timeout exceeded when trying to connect'), /^The store does not answer: /],
  [failure('Connection terminated due to connection timeout'), /^The store does not answer: /],
  [failure('received invalid response: 4a'), /^What answers as the store does not speak/],
  [failure('sorry, too many clients already', '53300'), /^The store has no connection left \(53300\)/],
  [
    failure('connect ECONNREFUSED 127.0.0.1:1', 'ECONNREFUSED'),
    /^Can't connect to the store \(ECONNREFUSED\): .*DATABASE_URL is right\.$/,
  ],
  [failure('password authentication failed', '28P01'), /^The store rejected the login \(28P01\)/],
  [
    failure('no pg_hba.conf entry for host "::1", user "u", database "d", no encryption', '28000'),
    /^The store rejected the login \(28000\), because .* without TLS: set sslmode=verify-full or .* in DATABASE_URL/,
  ],
  [
    failure('no pg_hba.conf entry for host "::1", user "u", database "d", SSL encryption', '28000'),
    /^The store rejected the login \(28000\), because pg_hba\.conf has no rule .*: correct the URL in /,
  ],
  [failure('role "u" does not exist', '28000'), /because the role does not exist: correct the URL in /],
  [failure('database "x" does not exist', '3D000'), /^The store has no such database/],
])('%s becomes a sentence', (error, sentence) => {
  expect(connectFailure(error, ONLY_STORE)).toMatch(sentence);
  const ofCell = connectFailure(error, { store: 'cell 2', setting: 'DBVITALS_CELLS_FILE' }) ?? '';
  expect(ofCell).toMatch(/[cC]ell 2/);
  expect(ofCell).not.toContain('DATABASE_URL');
});

test('other errors are not about the connection', () => {
  expect(connectFailure(failure('relation "x" does not exist', '42P01'), ONLY_STORE)).toBeNull();
  expect(connectFailure('text', ONLY_STORE)).toBeNull();
});
