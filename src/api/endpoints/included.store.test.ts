import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { changeTags, requireTags } from '../../connections/tags/change-tags.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { openPool } from '../../store/connect.ts';
import { askEndpoint } from './ask-fixture.ts';
import { connections } from './connections.ts';
import { fleet } from './fleet.ts';
import { latestCheck } from './latest-check.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;
let accountId: number;
let ids: [orders: number, billing: number, shop: number, idle: number];

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 4, pipeline: true });
  accountId = await store.account();
  ids = [
    await store.connection(accountId, { name: 'orders' }),
    await store.connection(accountId, { name: 'billing' }),
    await store.connection(accountId, { name: 'shop', engine: 'mysql' }),
    await store.connection(accountId, { name: 'idle' }),
  ];
  const [orders, billing, shop] = ids;
  await tag([orders, billing], ['env:production']);
  await tag([orders, shop], ['pci']);
  await store.writer.query(
    `insert into connection_version (account_id, connection_id, version, since) values ($1, $2, 180004, now()), ($1, $3, 80036, now())`,
    [accountId, orders, shop],
  );
  for (const [id, score] of [
    [orders, 40],
    [billing, 90],
    [shop, 60],
  ] as const) {
    await store.writer.query(
      `with run as (
         insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
         values ($1, $2, '2026-01-01', $3, 's', $4) returning health_check_id)
       update connection set latest_check_id = (select health_check_id from run), latest_score = $3, provider = 'rds'
        where connection_id = $2`,
      [accountId, id, score, JSON.stringify(FINDINGS)],
    );
  }
  await store.writer.query(
    `insert into ticket (account_id, connection_id, check_id, category, title, severity, status, metric_line, remediation,
                         first_seen_at, last_seen_at)
     select $1, $2, 'PG_X', 'c', 't', 'warning', 'open', 'm', 'r', '2026-01-01', '2026-01-01'`,
    [accountId, orders],
  );
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '10 min', now())
     on conflict (account_id, connection_id) do update set every = excluded.every`,
    [accountId, orders],
  );
  await store.writer.query(
    `insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits)
     values ($1, $2, '2026-01-02', '{}', '{}', '{}', '{}', '{}', '{}')`,
    [accountId, orders],
  );
  // Another account's, with the same tag.
  const other = await store.account();
  const theirs = await store.connection(other, { name: 'theirs' });
  await changeTags((work) => changeAccount(store.writer, other, work), [theirs], {
    add: requireTags(['pci']),
  });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

const FINDINGS = [
  {
    check_id: 'PG_A',
    category: 'c',
    status: 'critical',
    title: 't',
    metric_line: 'm',
    remediation: 'r',
    severity: 'critical',
    database: 'app',
    object: 'public.a',
    measured: { metric: 'dead_rows_ratio', value: 0.4, operator: '>=', threshold: 0.2 },
  },
  {
    check_id: 'PG_B',
    category: 'c',
    status: 'ok',
    title: 't',
    metric_line: 'm',
    remediation: '',
    severity: 'warning',
    database: '',
    object: null,
  },
];

const tag = (connectionIds: number[], tags: string[]) =>
  changeTags((work) => changeAccount(store.writer, accountId, work), connectionIds, {
    add: requireTags(tags),
  });
const ask = (endpoint: Endpoint, asked = '', id: number | '' = '') =>
  askEndpoint(reader, endpoint, accountId, { asked, id });
const names = async (endpoint: Endpoint, asked: string) =>
  (await ask(endpoint, asked)).body.data.map(({ name }: { name: string }) => name);

describe.each<Endpoint>([connections, fleet])('$path', (endpoint) => {
  test.each([
    ['tag=pci', ['orders', 'shop']],
    ['tag=pci&tag=env:production', ['orders']],
    ['tag=PCI&engine=mysql', ['shop']],
    ['engine=postgres', ['orders', 'billing', 'idle']],
    ['engine=mariadb', []],
    ['status=critical', ['orders']],
    ['status=warning', ['shop']],
    ['status=healthy', ['billing']],
    ['status=never_run', ['idle']],
    ['status=critical&engine=mysql', []],
    ['tag=nobody', []],
  ])('%s', async (asked, expected) => {
    expect(await names(endpoint, asked)).toEqual(expected);
    const { body } = await ask(endpoint, asked);
    expect((body.meta ?? body.summary).total).toBe(expected.length);
  });

  test('include adds exactly the fields that it names', async () => {
    const plain = (await ask(endpoint)).body.data;
    const all = 'tags,engine,version,provider,url,open_tickets,interval,measured_at';
    const { body } = await ask(endpoint, `include=${all}`);
    const [orders, billing, shop, idle] = body.data;
    const added = ({ tags, engine, version, provider, url, open_tickets }: Record<string, unknown>) => [
      tags,
      engine,
      version,
      provider,
      url,
      open_tickets,
    ];
    const page = (n: number) => `http://localhost/connections/${ids[n]}`;
    expect(added(orders)).toEqual([['env:production', 'pci'], 'postgres', '18.4', 'rds', page(0), 1]);
    expect(added(billing)).toEqual([['env:production'], 'postgres', null, 'rds', page(1), 0]);
    expect(added(shop)).toEqual([['pci'], 'mysql', '8.0.36', 'rds', page(2), 0]);
    expect(added(idle)).toEqual([[], 'postgres', null, null, page(3), 0]);
    expect(orders).toMatchObject({ interval: 600, measured_at: '2026-01-02T00:00:00.000Z' });
    expect(idle.measured_at).toBeNull();
    const keys = Object.keys(plain[0]);
    expect(Object.keys(orders)).toEqual([...keys, ...all.split(',')]);
    const one = (await ask(endpoint, 'include=url')).body.data[0];
    expect(Object.keys(one)).toEqual([...keys, 'url']);
    expect(Object.keys((await ask(endpoint, 'tag=pci')).body.data[0])).toEqual(keys);
  });

  test('a wrong or repeated value is refused by its name', async () => {
    for (const asked of [
      'include=tags,tags',
      'include=tags&include=url',
      'include=secret',
      'include=tags,',
      'include=,tags',
      'include=Tags',
      'include=tags%20',
      'include=',
    ])
      expect((await ask(endpoint, asked)).error, asked).toEqual({
        code: 'invalid_parameter',
        parameter: 'include',
      });
    for (const asked of [
      'engine=oracle',
      'engine=mysql&engine=postgres',
      'status=open',
      'status=critical&status=warning',
      'tag=',
      'tag=a%20b',
    ]) {
      const parameter = asked.split('=')[0];
      expect((await ask(endpoint, asked)).error, asked).toEqual({
        code: 'invalid_parameter',
        parameter,
      });
    }
  });
});

test('pages of filtered connections', async () => {
  const { body, next } = await ask(connections, 'tag=env:production&per_page=1');
  expect(body.meta).toEqual({ total: 2, page: 1, per_page: 1, has_more: true });
  expect(next?.get('tag')).toBe('env:production');
  expect((await ask(connections, next?.toString())).body).toMatchObject({
    data: [{ name: 'billing' }],
    meta: { page: 2, has_more: false },
  });
});

test('the findings of the latest check with their numbers and objects, on request', async () => {
  const findings = async (asked: string) => (await ask(latestCheck, asked, ids[0])).body.data.checks;
  const plain = ['check_id', 'category', 'status', 'title', 'metric_line', 'remediation', 'severity'];
  expect((await findings('')).map(Object.keys)).toEqual([plain, plain]);
  const measured = { metric: 'dead_rows_ratio', value: 0.4, unit: 'ratio', operator: '>=', threshold: 0.2 };
  const none = { metric: null, value: null, unit: null, operator: null, threshold: null };
  const [fault, ok] = await findings('include=measured,object');
  expect(fault).toMatchObject({ ...measured, database: 'app', object: 'public.a' });
  expect(ok).toMatchObject({ ...none, database: null, object: null });
  expect(Object.keys((await findings('include=object'))[0])).toEqual([...plain, 'database', 'object']);
});
