import { rootCertificates } from 'node:tls';
import { expect, inject, test } from 'vitest';
import { makeAccount, makeKeylessAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { read } from './ask.ts';
import { type SignedIn, sharedMember, signInAs } from './browser.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, type HealthCheck, integer, type List, time } from './records.ts';

const PASSWORD = 'unspoken-connection';

interface Settings {
  id: number;
  version: number;
  name: string;
  host: string;
  has_password: boolean;
  [field: string]: unknown;
}

interface Detail {
  settings: Settings;
  latest: { id: number; findings: Record<string, unknown>[]; cost: object | null } | null;
  history: { at: string; score: number }[];
  [field: string]: unknown;
}

const NEW = { name: 'shop', url: `postgres://watcher:${PASSWORD}@db.example.com:5433/shop` };

function add(member: SignedIn, wanted: object = {}): Promise<Settings> {
  return member.change('POST', '/connections', { ...NEW, ...wanted });
}

test('a connection is added by URL or by fields, shown without its password, and logged with its author', async () => {
  const { id: account, key } = await makeAccount();
  const operator = await signInAs(account, ['operator']);
  const added = await add(operator, {
    expected_standbys: 1,
    interval_seconds: 60,
    ca_certificate: rootCertificates[0],
    tags: ['PCI', 'env:production'],
  });
  expect(added).toEqual({
    id: integer,
    version: integer,
    name: 'shop',
    engine: 'postgres',
    connection_type: 'direct',
    host: 'db.example.com',
    port: 5433,
    database: 'shop',
    username: 'watcher',
    tls: 'verify-full',
    has_password: true,
    password_exposable: false,
    expected_standbys: 1,
    interval_seconds: 60,
    pulse_seconds: 10,
    backup_expected_seconds: 0,
    thresholds: {},
    ssh: null,
    created_at: time,
    provider: null,
    query_texts: false,
    tags: ['env:production', 'pci'],
    token_source: null,
    ca_fingerprints: [expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)],
  });
  const { url: _, ...named } = NEW;
  const address = { engine: 'mariadb', host: '2001:db8::7', username: 'watcher' };
  const other = await operator.change<Settings>('POST', '/connections', {
    ...named,
    address,
    password: PASSWORD,
  });
  expect(other).toMatchObject({
    engine: 'mariadb',
    host: '2001:db8::7',
    port: 3306,
    database: '',
    has_password: true,
  });
  const listed = await read<List<Connection>>('/api/v1/health/connections', key);
  expect(listed.data.map(({ id }) => id)).toEqual([added.id, other.id]);
  const told = (await readLog(key)).filter(({ action_type }) => action_type === 'connection_added');
  expect(told[0]).toMatchObject({
    page_path: `/connections/${added.id}`,
    properties: {
      connection_id: added.id,
      name: 'shop',
      actor_member_id: operator.memberId,
      actor_name: 'Test operator',
    },
  });
  expect(JSON.stringify([added, other, await operator.get(`/connections/${added.id}`), told])).not.toContain(
    PASSWORD,
  );
});

const refused = sharedMember(['operator']);

test.each<[string, string, object]>([
  ['no address', 'url', { url: undefined }],
  ['URL and fields', 'url', { address: { engine: 'postgres', host: 'db', username: 'a' } }],
  ['no URL', 'url', { url: 'nonsense' }],
  ['an unknown parameter', 'url', { url: 'postgres://a@db/shop?connect_timeout=5' }],
  [
    'a host with a path',
    'host',
    { url: undefined, address: { engine: 'postgres', host: 'db/x?host=/run', username: 'a' } },
  ],
  [
    'an unknown engine',
    'address',
    { url: undefined, address: { engine: 'oracle', host: 'db', username: 'a' } },
  ],
  ['TLS on a socket', 'tls', { url: 'postgres://a@/shop?host=/run/pg', tls: 'require' }],
  [
    'SSH before a socket',
    'ssh',
    { url: 'postgres://a@/shop?host=/run/pg', ssh: { username: 'a', host: 'b', key: 'c' } },
  ],
  ['SSH without a key', 'ssh', { ssh: { username: 'a', host: 'bastion' } }],
  ['an SSH key that is none', 'ssh', { ssh: { username: 'a', host: 'bastion', key: 'nonsense' } }],
  ['a threshold that is none', 'thresholds', { thresholds: { PG_DEAD_TUPLES: { colour: 1 } } }],
  ['a check of another engine', 'thresholds', { thresholds: { MY_BP_MISS: { warning: 1 } } }],
  ['a certificate that is none', 'ca_certificate', { ca_certificate: 'nonsense' }],
  ['an interval too short', 'interval_seconds', { interval_seconds: 1 }],
  ['a tag that is none', 'tags', { tags: ['two words'] }],
  ['two environments', 'tags', { tags: ['env:test', 'env:production'] }],
  ['an empty name', 'name', { name: ' ' }],
  ['a name with a half of a character', 'name', { name: 'a\ud800' }],
  [
    'a login with a half of a character',
    'address',
    { url: undefined, address: { engine: 'postgres', host: 'db', username: '\udfff' } },
  ],
])('400 names what is wrong: %s', async (_what, parameter, wanted) => {
  const operator = await refused();
  const answer = await operator.ask('POST', '/connections', { ...NEW, ...wanted });
  expect([answer.status, answer.text]).toEqual([400, expect.not.stringContaining(PASSWORD)]);
  expect(answer.json()).toMatchObject({ error: { code: 'invalid_parameter' } });
  expect(answer.json<{ error: { parameter: string } }>().error.parameter).toMatch(
    new RegExp(`^${parameter}`),
  );
  expect(await operator.get('/fleet')).toMatchObject({ data: [] });
});

test('a change keeps omitted fields, sends the password to no other host, and overwrites no concurrent edit', async () => {
  const { id: account, key } = await makeAccount();
  const [ada, bob] = [await signInAs(account, ['operator']), await signInAs(account, ['admin'])];
  const { id, version } = await add(ada);
  const path = `/connections/${id}`;
  const renamed = await ada.change<Settings>('PATCH', path, {
    version,
    name: 'store',
    interval_seconds: 600,
    pulse_seconds: 0,
    backup_expected_seconds: 93_600,
    thresholds: { PG_DEAD_TUPLES: { warning: 0.2 } },
  });
  expect(renamed).toMatchObject({
    name: 'store',
    interval_seconds: 600,
    pulse_seconds: 0,
    backup_expected_seconds: 93_600,
    has_password: true,
    host: 'db.example.com',
  });
  expect(renamed.version).toBeGreaterThan(version);

  const late = await bob.ask('PATCH', path, { version, name: 'other' });
  expect(late.status).toBe(409);
  expect(late.json()).toMatchObject({
    error: {
      code: 'conflict',
      message: expect.stringMatching(/^Test operator changed it after you opened it\./),
    },
  });
  expect(await bob.get<Detail>(path)).toMatchObject({ settings: { name: 'store' } });
  await fixtureJson(['connection', 'change', String(id), '--every', '7m']);
  const operators = await bob.ask('PATCH', path, { version: renamed.version, name: 'other' });
  expect([operators.status, operators.text]).toEqual([409, expect.stringContaining('command line')]);

  const { settings } = await bob.get<Detail>(path);
  const elsewhere = { version: settings.version, url: 'postgres://watcher@evil.example.com/shop' };
  const refused = await bob.ask('PATCH', path, elsewhere);
  expect([refused.status, refused.json()]).toMatchObject([400, { error: { parameter: 'password' } }]);
  expect((await bob.ask('PATCH', path, { version: settings.version })).status).toBe(400);
  const moved = await bob.change<Settings>('PATCH', path, { ...elsewhere, password: `${PASSWORD}-2` });
  expect(moved).toMatchObject({
    host: 'evil.example.com',
    port: 5432,
    thresholds: { PG_DEAD_TUPLES: { warning: 0.2 } },
  });
  const [, , changed] = (await readLog(key)).filter(
    ({ action_type }) => action_type === 'connection_changed',
  );
  expect(changed?.properties).toMatchObject({
    changed: ['host', 'port', 'password'],
    actor_name: 'Test admin',
    from: { host: 'db.example.com' },
  });
});

test('a change that protects the password less requires the password again', async () => {
  const operator = await signInAs(await makeKeylessAccount(), ['operator']);
  const { id, version } = await add(operator);
  const path = `/connections/${id}`;
  for (const weaker of [
    { tls: 'require' },
    { tls: 'disable' },
    { password_exposable: true },
    { ca_certificate: rootCertificates[0] },
  ]) {
    const refused = await operator.ask('PATCH', path, { version, ...weaker });
    expect([refused.status, refused.json()]).toMatchObject([
      400,
      { error: { parameter: 'password', message: expect.stringMatching(/enter the password again/) } },
    ]);
  }
  const given = { version, tls: 'disable', password_exposable: true, password: `${PASSWORD}-2` };
  const changed = await operator.change<Settings>('PATCH', path, given);
  expect(changed).toMatchObject({ tls: 'disable', password_exposable: true });
  const safer = { version: changed.version, tls: 'verify-full', password_exposable: false };
  expect(await operator.change('PATCH', path, safer)).toMatchObject({ tls: 'verify-full' });
});

test('a connection is removed once, and never from another account', async () => {
  const { id: account, key } = await makeAccount();
  const operator = await signInAs(account, ['operator']);
  const stranger = await signInAs(await makeKeylessAccount(), ['owner']);
  const { id, version } = await add(operator);
  const path = `/connections/${id}`;
  for (const [method, below, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { version, name: 'mine' }],
    ['DELETE', '', undefined],
    ['POST', '/run', undefined],
    ['GET', '/run', undefined],
    ['GET', '/silences', undefined],
    ['POST', '/silences', { check_id: 'PG_DEAD_TUPLES', reason: 'wont_fix', note: 'x' }],
  ] as const) {
    expect((await stranger.ask(method, `${path}${below}`, body)).status, `${method} ${below}`).toBe(404);
  }
  await operator.change('DELETE', path);
  expect((await operator.ask('DELETE', path)).status).toBe(404);
  expect((await operator.ask('GET', path)).status).toBe(404);
  expect((await operator.ask('PATCH', path, { version, name: 'x' })).status).toBe(404);
  const last = (await readLog(key)).findLast(({ action_type }) => action_type === 'connection_removed');
  expect(last?.properties).toMatchObject({ connection_id: id, actor_member_id: operator.memberId });
});

test('hostile names are returned unchanged', async () => {
  const operator = await signInAs(await makeKeylessAccount(), ['operator']);
  for (const name of [
    '<script>alert(1)</script>',
    'abc\u202egnp.exe',
    '"; drop table connection; --',
    '名'.repeat(200),
  ]) {
    const { id } = await add(operator, { name });
    expect(await operator.get<Detail>(`/connections/${id}`)).toMatchObject({ settings: { name } });
  }
  expect((await operator.ask('POST', '/connections', { ...NEW, name: 'x'.repeat(10_000) })).status).toBe(400);
});

test("a connection's page has findings worst first with remediation, the run's cost and its history", async () => {
  const account = await makeKeylessAccount();
  const operator = await signInAs(account, ['operator']);
  const { id } = await add(operator, {
    url: inject('sharedStore')['DATABASE_URL'],
    tls: 'disable',
    thresholds: { PG_SHARED_BUFFERS_LOW: { warning_bytes: 999_999_999_999 } },
  });
  const before = await operator.get<Detail>(`/connections/${id}`);
  expect(before).toMatchObject({
    score: null,
    status: 'never_run',
    latest: null,
    history: [],
    running: false,
    open_tickets: 0,
  });
  const check = await fixtureJson<HealthCheck>(['check', 'run', '--connection', String(id)]);
  const page = await operator.get<Detail>(`/connections/${id}`);
  const { score, created_at } = check;
  expect(page).toMatchObject({
    score,
    last_checked_at: created_at,
    stale: false,
    history: [{ at: created_at, score }],
  });
  expect(page.latest).toMatchObject({ id: check.id, cost: { statements: integer, bytes: integer } });
  expect(page.latest?.findings.map(({ check_id, status }) => [check_id, status])).toEqual(
    check.checks.map(({ check_id, status }) => [check_id, status]),
  );
  const low = page.latest?.findings.find(({ check_id }) => check_id === 'PG_SHARED_BUFFERS_LOW');
  expect(low).toMatchObject({
    status: 'warning',
    metric_line: expect.stringMatching(/^shared_buffers is /),
    missing_grant: null,
    sql: expect.stringMatching(/^ALTER SYSTEM SET shared_buffers/),
    lock: expect.stringMatching(/^Locks no table/),
    why: expect.stringMatching(/\w+ \w+ \w+/),
    thresholds: expect.arrayContaining([
      {
        name: 'warning_bytes',
        unit: 'bytes',
        value: 999_999_999_999,
        default: integer,
        inherited: integer,
        source: 'connection',
        tag: '',
      },
    ]),
  });
  expect(page['open_tickets']).toBeGreaterThan(0);
  expect(await operator.get(`/tickets/${low?.['ticket_id']}`)).toMatchObject({
    check_id: 'PG_SHARED_BUFFERS_LOW',
    connection_id: id,
    status: 'open',
  });
  expect(page.latest?.findings.find(({ status }) => status === 'ok')).toMatchObject({ ticket_id: null });

  // Two scores of one half hour are both part of the history.
  const address = { engine: 'postgres', host: '127.0.0.1', port: 1, username: 'watcher' };
  const { version } = page.settings;
  await operator.change('PATCH', `/connections/${id}`, { version, address, password: PASSWORD });
  const lost = await fixtureJson<HealthCheck>(['check', 'run', '--connection', String(id)]);
  const { history } = await operator.get<Detail>(`/connections/${id}`);
  expect(history).toEqual([
    { at: created_at, score, in_maintenance: false, of_day: false },
    { at: lost.created_at, score: 0, in_maintenance: false, of_day: false },
  ]);
});

test('a change can be tested before it is saved, by the same rules and with the stored password, and nothing is stored', async () => {
  const { id: account, key } = await makeAccount();
  const operator = await signInAs(account, ['operator']);
  const { id, version } = await add(operator, { url: inject('sharedStore')['DATABASE_URL'], tls: 'disable' });
  const path = `/connections/${id}`;
  const { settings } = await operator.get<Detail>(path);
  const tested = await operator.change('POST', `${path}/test`, {
    version,
    name: 'tested',
    expected_standbys: 2,
  });
  expect(tested).toMatchObject({
    reachable: true,
    version: expect.stringMatching(/^PostgreSQL \d/),
    tls: null,
  });
  const address = { engine: 'postgres', host: '127.0.0.1', port: 1, username: 'watcher' };
  const elsewhere = await operator.ask('POST', `${path}/test`, { version, address });
  expect([elsewhere.status, elsewhere.json()]).toEqual([
    400,
    { error: expect.objectContaining({ parameter: 'password' }) },
  ]);
  const lost = await operator.change('POST', `${path}/test`, { version, address, password: PASSWORD });
  expect(lost).toMatchObject({ reachable: false, reason: expect.not.stringContaining(PASSWORD) });
  expect((await operator.ask('POST', `${path}/test`, { version: version + 1, name: 'other' })).status).toBe(
    409,
  );
  const stranger = await signInAs(await makeKeylessAccount(), ['operator']);
  expect((await stranger.ask('POST', `${path}/test`, { version })).status).toBe(404);

  expect((await operator.get<Detail>(path)).settings).toEqual(settings);
  const told = (await readLog(key)).map(({ action_type }) => action_type);
  expect(told).not.toContain('connection_changed');
});
