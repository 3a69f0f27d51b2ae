import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, describe, expect, test } from 'vitest';
import { judgeLink, takeTls } from './store-tls.ts';
import { parsePoolerUrl, parseStoreUrl } from './store-url.ts';

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-tls-'));
const root = join(folder, 'ca.pem');
writeFileSync(root, rootCertificates[0] ?? '');
afterAll(() => rmSync(folder, { recursive: true }));

const at = (name: string) => join(import.meta.dirname, '../../test/certificates', name);
const [CERTIFICATE, KEY, OTHER_KEY] = [at('server.pem'), at('server.key'), at('renewed.key')];

const tlsOf = (query: string) => takeTls('DATABASE_URL', query).tls;
const without = (query: string) => {
  try {
    return tlsOf(query);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

describe('the TLS modes of a store URL mean what they mean for libpq', () => {
  test.each([
    ['', undefined],
    ['?sslmode=disable', false],
    ['?sslmode=require', { rejectUnauthorized: false }],
    ['?sslmode=no-verify', { rejectUnauthorized: false }],
    ['?sslmode=verify-full', {}],
    ['?ssl=true', {}],
    [`?sslmode=verify-full&sslrootcert=${root}`, { ca: rootCertificates[0] }],
    [`?sslrootcert=${root}`, { ca: rootCertificates[0] }],
    ['?sslmode=verify-full&sslrootcert=system', {}],
  ])('%s', (query, tls) => expect(tlsOf(query)).toEqual(tls));

  test('a client certificate and its key are read', () => {
    const [cert, key] = [readFileSync(CERTIFICATE, 'utf8'), readFileSync(KEY, 'utf8')];
    const tls = tlsOf(`?sslmode=verify-full&sslcert=${CERTIFICATE}&sslkey=${KEY}`);
    expect(tls).toEqual({ cert, key });
  });

  test('verify-ca, and require with an authority, verify the chain but not the name', () => {
    for (const mode of ['verify-ca', 'require']) {
      const tls = tlsOf(`?sslmode=${mode}&sslrootcert=${root}`);
      expect(tls).toEqual({ ca: rootCertificates[0], checkServerIdentity: expect.any(Function) });
    }
  });

  test.each([
    [
      '?sslmode=prefer',
      /^DATABASE_URL contains sslmode=prefer, which may connect without TLS: use disable, require, verify-ca or verify-full\.$/,
    ],
    ['?sslmode=allow', /sslmode=allow, which may connect without TLS/],
    ['?sslmode=bogus', /^DATABASE_URL contains an sslmode that does not exist: use disable, require/],
    ['?ssl=perhaps', /^DATABASE_URL contains ssl: remove it/],
    [
      '?sslmode=verify-full&sslrootcert=/nowhere/ca.pem',
      /^DATABASE_URL: the file of sslrootcert can't be read \(ENOENT\): name a PEM file/,
    ],
    [`?sslmode=verify-full&sslrootcert=${folder}`, /sslrootcert can't be read \(EISDIR\)/],
    [
      `?sslmode=verify-full&sslcert=${CERTIFICATE}&sslkey=${import.meta.filename}x`,
      /^DATABASE_URL: the file of sslkey can't be read \(ENOENT\)/,
    ],
    ['?sslmode=disable&sslmode=require', /^DATABASE_URL contains sslmode twice: remove one of them\.$/],
    [`?sslmode=verify-full&sslrootcert=${KEY}`, /the file of sslrootcert contains no certificate: name a/],
    [`?sslrootcert=${import.meta.filename}`, /the file of sslrootcert contains no certificate: name a/],
    [`?sslmode=require&sslcert=${CERTIFICATE}`, /contains only one of sslcert and sslkey: a client/],
    [`?sslmode=require&sslkey=${KEY}`, /contains only one of sslcert and sslkey: a client/],
    [
      `?sslmode=require&sslcert=${CERTIFICATE}&sslkey=${OTHER_KEY}`,
      /^DATABASE_URL: the file of sslkey has the key of another certificate than that of sslcert: name/,
    ],
    [
      `?sslmode=require&sslcert=${CERTIFICATE}&sslkey=${CERTIFICATE}`,
      /^DATABASE_URL: the file of sslkey contains no private key without a passphrase: name/,
    ],
  ])('%s is refused with a sentence', (query, sentence) => expect(without(query)).toMatch(sentence));
});

test('the driver sees none of these parameters, so it warns of none', () => {
  const [host] = parseStoreUrl('postgres://a:b@db.example.com/shop?sslmode=require&application_name=x');
  expect(host).toEqual({
    connectionString: 'postgres://a:b@db.example.com/shop?application_name=x',
    ssl: { rejectUnauthorized: false },
  });
  const [pooler] = parsePoolerUrl('postgres://a:b@db.example.com:6432/shop?sslmode=verify-full');
  expect(pooler?.ssl).toEqual({});
  expect(pooler?.pooled?.('writer')).toBe('postgres://a:b@db.example.com:6432/shop_writer');
  // A socket has no TLS, as for libpq.
  expect(parseStoreUrl('postgres://a:b@%2Frun%2Fpostgresql/shop?sslmode=require')[0]?.ssl).toBeUndefined();
});

test('a link to a remote store is plain, unverified or verified', () => {
  expect(judgeLink('db.example.com', undefined)).toBe('plaintext');
  expect(judgeLink('db.example.com', false)).toBe('plaintext');
  expect(judgeLink('db.example.com', { rejectUnauthorized: false })).toBe('unverified');
  expect(judgeLink('db.example.com', {})).toBe('verified');
  for (const host of ['/run/postgresql', 'localhost', '127.0.0.1', '::1'])
    expect(judgeLink(host, false)).toBeNull();
});
