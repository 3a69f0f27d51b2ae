import { expect, test } from 'vitest';
import { emptyDraft } from '../../parts/connection-draft.ts';
import { loginOf, newOf, testedOf } from './new-connection.ts';

const fields = { ...emptyDraft, name: ' shop ', host: ' db ', username: 'ada', password: ' s ' };

test.each([
  ['', 'postgres', ''],
  ['postgresql://ada:x%40y@db/app', 'postgres', 'ada'],
  ['mysql://a%20b@db', 'mysql', 'a b'],
  ['mariadb://a%zz@db', 'mariadb', 'a%zz'],
  ['http://ada@db', 'postgres', ''],
])('the URL "%s" gives engine %s and user "%s"', (url, engine, username) => {
  expect(loginOf({ url, draft: emptyDraft })).toEqual({ engine, username });
});

test('a URL is sent unchanged, without the separate fields', () => {
  expect(testedOf({ url: ' postgres://ada:x@db/app ', draft: fields })).toEqual({
    url: 'postgres://ada:x@db/app',
    tls: 'verify-full',
  });
});

test('fields are trimmed, the password is not', () => {
  expect(
    newOf({ url: null, draft: { ...fields, port: '5433', expectedStandbys: '2' }, tags: ' env:test, pci' }),
  ).toEqual({
    name: 'shop',
    interval_seconds: 300,
    address: { engine: 'postgres', host: 'db', port: 5433, username: 'ada' },
    password: ' s ',
    tls: 'verify-full',
    expected_standbys: 2,
    tags: ['env:test', 'pci'],
  });
});

test.each([
  { url: null, draft: { ...fields, host: '/run/postgresql', hasTunnel: true } },
  { url: 'postgres://ada@%2Frun%2Fpg/app', draft: fields },
  { url: 'mysql://ada@/?socket=/run/mysqld.sock', draft: fields },
])('a Unix socket has no TLS and no tunnel', (given) => {
  expect(testedOf(given)).not.toHaveProperty('tls');
  expect(testedOf(given)).not.toHaveProperty('ssh');
});

test('an expected backup and query texts are sent for servers with queries only', () => {
  const draft = { ...fields, backupExpected: '93600' };
  const sent = (url: string) => newOf({ url, draft, storesTexts: true });
  expect(sent('mysql://ada@db')).toMatchObject({ backup_expected_seconds: 93_600, query_texts: true });
  expect(sent('pgbouncer://ada@db')).not.toHaveProperty('backup_expected_seconds');
  expect(sent('pgbouncer://ada@db')).not.toHaveProperty('query_texts');
  expect(newOf({ url: null, draft: fields })).not.toHaveProperty('query_texts');
});

test('expected standbys are sent for PostgreSQL only', () => {
  const draft = { ...fields, expectedStandbys: '2' };
  expect(testedOf({ url: 'mysql://ada@db', draft })).not.toHaveProperty('expected_standbys');
  expect(testedOf({ url: 'postgres://ada@db', draft })).toHaveProperty('expected_standbys', 2);
});
