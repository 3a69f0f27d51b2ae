import { describe, expect, test } from 'vitest';
import {
  countOf,
  durationOf,
  emailOf,
  idOf,
  listenOf,
  serviceUrlOf,
  someOf,
  textOf,
  timeOf,
} from './arguments.ts';
import { UsageError } from './usage-error.ts';

describe('a duration', () => {
  const parse = durationOf('--every', '10s', '7d');

  test.each([
    ['10s', 10],
    ['90s', 90],
    ['5m', 300],
    ['2h', 7_200],
    ['7d', 604_800],
  ])('%s is %i seconds', (text, seconds) => expect(parse(text)).toBe(seconds));

  test.each(['', '5', 'm', '5 m', '-5m', '1.5h', '5w', '9s', '8d', '604801s', '1e3s'])(
    '%j is rejected',
    (text) => {
      expect(() => parse(text)).toThrow(UsageError);
    },
  );
});

test.each(['0', '01', '-1', '1.0', '1e3', ' 1', '9007199254740992', '99999999999999999', ''])(
  '%j is not an id',
  (text) => {
    expect(() => idOf('ID')(text)).toThrow(UsageError);
  },
);

test('a count must be within its bounds', () => {
  expect(countOf('--port', 0, 65_535)('0')).toBe(0);
  expect(() => countOf('--port', 0, 65_535)('65536')).toThrow(
    '--port must be a whole number from 0 to 65535.',
  );
});

test('text is trimmed, bounded and free of control characters', () => {
  expect(textOf('--name')('  Ada  ')).toBe('Ada');
  for (const text of ['', '   ', 'a\u0000b', 'a\nb', 'a\u0085b', 'x'.repeat(201)]) {
    expect(() => textOf('--name')(text)).toThrow(UsageError);
  }
});

test.each(['ada', 'ada@', '@b', 'a b@c', 'a@b@c'])('%j is not an e-mail address', (text) => {
  expect(() => emailOf('--email')(text)).toThrow(UsageError);
});

test.each([
  ['127.0.0.1:9187', '127.0.0.1', 9187],
  ['db.example.com:0', 'db.example.com', 0],
  ['[::1]:9187', '::1', 9187],
  [':9187', '::', 9187],
])('%s is an address to listen on', (text, host, port) =>
  expect(listenOf('--listen')(text)).toEqual({ host, port }),
);

test.each(['9187', '127.0.0.1', 'host:70000', '::1:9187', 'a b:1', 'http://h:1'])(
  '%j is not an address to listen on',
  (text) => {
    expect(() => listenOf('--listen')(text)).toThrow(UsageError);
  },
);

test.each([
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'],
  ['https://db.example.com/vitals', 'https://db.example.com/vitals'],
])('%s is a service URL', (text, url) => expect(serviceUrlOf('--url')(text)).toBe(url));

test.each(['127.0.0.1:8080', 'ftp://h', 'http://key@h', 'http://h/?key=x', 'http://h/#x', ''])(
  '%j is not a service URL',
  (text) => {
    expect(() => serviceUrlOf('--url')(text)).toThrow(UsageError);
  },
);

test('a repeated option collects its values without duplicates', () => {
  const parse = someOf('--role', ['owner', 'viewer']);
  expect(parse('owner', parse('viewer', parse('owner', undefined)))).toEqual(['owner', 'viewer']);
  expect(() => parse('king', undefined)).toThrow('--role must be one of owner, viewer.');
});

describe('an instant', () => {
  const now = new Date('2030-06-01T12:00:00Z');
  test.each([
    ['2030-01-31', '2030-01-31T00:00:00.000Z', '2030-02-01T00:00:00.000Z'],
    ['2030-01-31T18:00:00+02:00', '2030-01-31T16:00:00.000Z', '2030-01-31T16:00:01.000Z'],
    ['7d', '2030-05-25T12:00:00.000Z', '2030-05-25T12:00:00.000Z'],
  ])('%s is a start and an end', (text, start, end) => {
    expect(timeOf('--from', 'start', now)(text).toISOString()).toBe(start);
    expect(timeOf('--to', 'end', now)(text).toISOString()).toBe(end);
  });

  test.each(['', 'soon', '2030-13-01', '7w', '-7d', '999999999d'])('%j is rejected', (text) => {
    expect(() => timeOf('--from', 'start', now)(text)).toThrow(UsageError);
  });
});
