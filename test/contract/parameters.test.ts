import { describe, expect, test } from 'vitest';
import { fillAccount, makeKey, makeKeylessAccount } from './account.ts';
import { ask, read } from './ask.ts';
import type { Failure, List } from './records.ts';

const CONNECTIONS = '/api/v1/health/connections';
const TICKETS = '/api/v1/ops/tickets';
const ACTIVITY = '/api/v1/activity';

const filled = fill();

async function fill(): Promise<{ key: string }> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 3, tickets: 20, activity: 100, days: 5 });
  return makeKey(id, 'suite');
}

async function expectBad(path: string, parameter: string, rule = new RegExp(parameter)): Promise<void> {
  const answer = await ask(path, { key: (await filled).key });
  expect(answer.status, path).toBe(400);
  const { code, message, parameter: named } = answer.json<Failure>().error;
  expect(code).toBe('invalid_parameter');
  expect(named).toBe(parameter);
  expect(message).toMatch(rule);
}

async function expectGood(path: string): Promise<List<unknown>> {
  return read(path, (await filled).key);
}

describe.each([CONNECTIONS, TICKETS, ACTIVITY])('%s', (path) => {
  const wrong = [
    '0',
    '-1',
    '00',
    '01',
    '1.0',
    '1e3',
    '%2B1',
    'abc',
    '',
    '%201',
    '1%20',
    'null',
    '0x10',
    '１',
    'NaN',
  ].map((value) => encodeURI(value).replace('%25', '%'));

  test.each([...wrong, '9007199254740992', '99999999999999999999'])('400: page=%s', (value) =>
    expectBad(`${path}?page=${value}`, 'page'),
  );
  test.each([...wrong, '101', '1000', '99999999999999999999'])('400: per_page=%s', (value) =>
    expectBad(`${path}?per_page=${value}`, 'per_page', value === '' ? /per_page/ : /100/),
  );
  test('200: pages and sizes within the rule, percent-encoded or not', async () => {
    for (const query of ['per_page=100', 'page=1', 'per_page=1', 'p%61ge=%31', 'page=9007199254740991']) {
      await expectGood(`${path}?${query}`);
    }
    expect((await expectGood(`${path}?per_page=100`)).meta.per_page).toBe(100);
    expect((await expectGood(path)).meta.per_page).toBe(50);
  });
  test('400: a repeated parameter', async () => {
    await expectBad(`${path}?page=1&page=2`, 'page');
    await expectBad(`${path}?per_page=5&page=1&per_page=5`, 'per_page');
  });
  test('400: a parameter without a value', async () => {
    await expectBad(`${path}?page`, 'page');
    await expectBad(`${path}?page=`, 'page');
  });
});

test.each([
  [CONNECTIONS, ['page', 'per_page']],
  [`${CONNECTIONS}/1/checks/latest`, []],
  ['/api/v1/health/fleet', []],
  [TICKETS, ['status', 'severity', 'connection_id', 'from', 'to', 'page', 'per_page']],
  ['/api/v1/ops/stats', []],
  [ACTIVITY, ['action_type', 'from', 'to', 'order', 'after_id', 'page', 'per_page']],
  ['/api/v1/team/members', []],
  ['/api/v1/team/roles', []],
])('400: an unknown parameter of %s is named with those allowed', async (path, allowed) => {
  for (const name of ['limit', 'Page', 'sort', 'cursor', 'constructor', 'p']) {
    await expectBad(`${path}?${name}=1`, name, /parameter/);
    const { error } = (await ask(`${path}?${name}=1`, { key: (await filled).key })).json<Failure>();
    for (const known of allowed) expect(error.message).toContain(known);
  }
});

test.each(['/api/v1/health/fleet', '/api/v1/team/members', '/api/v1/team/roles'])(
  '400: page and per_page are unknown to %s',
  async (path) => {
    await expectBad(`${path}?page=1`, 'page', /parameter/);
    await expectBad(`${path}?per_page=50`, 'per_page', /parameter/);
  },
);

test.each([
  CONNECTIONS,
  '/api/v1/health/fleet',
  TICKETS,
  '/api/v1/ops/stats',
  ACTIVITY,
  '/api/v1/team/members',
  '/api/v1/team/roles',
])('200: %s ignores names that begin with _', async (path) => {
  for (const query of ['_=1700000000', '_ts=abc&_ts=def', '__proto__=1', '_', ''])
    await expectGood(`${path}?${query}`);
});

test.each(['Open', 'OPEN', 'closed', 'open,resolved', '', '%20open'])('400: status=%s', (value) =>
  expectBad(`${TICKETS}?status=${value}`, 'status', value === '' ? /status/ : /open.*resolved/),
);

test.each(['Critical', 'high', 'warn', ''])('400: severity=%s', (value) =>
  expectBad(
    `${TICKETS}?severity=${value}`,
    'severity',
    value === '' ? /severity/ : /critical.*warning.*info/,
  ),
);

const tooLarge = ['9007199254740992', '9007199254740993', '99999999999999999999999999'];

test.each(['abc', '0', '-1', '1.5', '01', '', '1e3', '%2B1', ...tooLarge])('400: connection_id=%s', (value) =>
  expectBad(`${TICKETS}?connection_id=${value}`, 'connection_id'),
);

test.each(['ascending', 'ASC', '', 'id'])('400: order=%s', (value) =>
  expectBad(`${ACTIVITY}?order=${value}`, 'order', value === '' ? /order/ : /asc.*desc|desc.*asc/),
);

test.each(['abc', '-1', '1.5', '', '%2B1', ...tooLarge])('400: after_id=%s', (value) =>
  expectBad(`${ACTIVITY}?after_id=${value}`, 'after_id'),
);

test('400: action_type without a value', () => expectBad(`${ACTIVITY}?action_type=`, 'action_type'));

test('200: an unknown action type gives an empty list', async () => {
  expect(await expectGood(`${ACTIVITY}?action_type=no_such_thing`)).toMatchObject({
    data: [],
    meta: { total: 0, has_more: false },
  });
});

test('200: after_id may be 0, and lie beyond the last', async () => {
  expect((await expectGood(`${ACTIVITY}?after_id=0`)).meta.total).toBeGreaterThan(100);
  expect(await expectGood(`${ACTIVITY}?after_id=9007199254740991`)).toMatchObject({
    data: [],
    meta: { total: 0, has_more: false },
  });
});

test('400: a message reflects nothing but the name of the parameter', async () => {
  const { key } = await filled;
  for (const path of [
    `${TICKETS}?status=zebra`,
    `${TICKETS}?from=zebra`,
    `${CONNECTIONS}?page=zebra`,
    `${TICKETS}?connection_id=zebra`,
    '/api/v1/zebra',
  ]) {
    expect((await ask(path, { key })).text).not.toContain('zebra');
  }
});

describe.each([TICKETS, ACTIVITY])('from and to of %s', (path) => {
  test.each([
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-01-00',
    '2025-02-29',
    '1900-02-29',
    '26-01-01',
    '2026-1-1',
    '20260101',
    '2026-01',
    '2026',
    'yesterday',
    '',
    '0000-01-01',
    '10000-01-01',
    '-2026-01-01',
    '2026-01-01T24:00:00Z',
    '2026-01-01T23:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T12:00',
    '2026-01-01T12Z',
    '2026-01-01t12:00:00Z',
    '2026-01-01T12:00:00z',
    '2026-01-01T12:00:00.Z',
    '2026-01-01T12:00:00.1234567890Z',
    '2026-01-01T12:00:00,5Z',
    '2026-01-01T12:00:00%2B15:00',
    '2026-01-01T12:00:00%2B14:01',
    '2026-01-01T12:00:00%2B0200',
    '2026-01-01T12:00:00%2B02',
    '2026-01-01T12:00:00-02:60',
    '2026-01-01%2012:00:00',
    '2026-01-01Z',
    '1767225600',
    '2026-01-01T12:00:00Z%20',
    '%202026-01-01',
    '2026-01-01T12:00:00ZZ',
    '2026-W01-1',
    "2026-01-01'",
    '2026-01-01%00',
  ])('400: %s', async (value) => {
    await expectBad(`${path}?from=${value}`, 'from');
    await expectBad(`${path}?to=${value}`, 'to');
  });

  test.each([
    '2026-01-01',
    '2024-02-29',
    '0001-01-01',
    '9999-12-31',
    '2026-01-01T00:00:00Z',
    '2026-01-01T23:59:59',
    '2026-01-01T12:00:00.1Z',
    '2026-01-01T12:00:00.123456789Z',
    '2026-01-01T12:00:00.1234567',
    '2026-01-01T12:00:00%2B14:00',
    '2026-01-01T12:00:00-14:00',
    '2026-01-01T12:00:00+02:00',
    '2026-01-01T12:00:00%2005:30',
    '2026-01-01T12:00:00-00:00',
    '0001-01-01T00:00:00%2B14:00',
    '9999-12-31T23:59:59.999999999-14:00',
  ])('200: %s', async (value) => {
    await expectGood(`${path}?from=${value}`);
    await expectGood(`${path}?to=${value}`);
  });

  test('400: from after to, by the first instant of one and the last of the other', async () => {
    const { key } = await filled;
    for (const [from, to] of [
      ['2026-01-02', '2026-01-01'],
      ['2026-01-01T12:00:01Z', '2026-01-01T12:00:00Z'],
      ['2026-01-02T00:00:00Z', '2026-01-01'],
      ['2026-01-01T12:00:00.001Z', '2026-01-01T12:00:00.000Z'],
      ['2026-01-01T12:00:00Z', '2026-01-01T12:00:00%2B01:00'],
    ]) {
      const answer = await ask(`${path}?from=${from}&to=${to}`, { key });
      expect(answer.status, `${from} ${to}`).toBe(400);
      expect(answer.json<Failure>().error.parameter).toMatch(/^(from|to)$/);
    }
    for (const [from, to] of [
      ['2026-01-01', '2026-01-01'],
      ['2026-01-01T23:59:59Z', '2026-01-01'],
      ['2026-01-01T12:00:00.9Z', '2026-01-01T12:00:00Z'],
      ['2026-01-01T12:00:00.5Z', '2026-01-01T12:00:00.5Z'],
    ]) {
      await expectGood(`${path}?from=${from}&to=${to}`);
    }
  });
});
