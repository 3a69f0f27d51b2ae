import { hash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeAlerts } from '../../../../test/support/console-alerts.ts';
import { writeHistory } from '../../../../test/support/console-history.ts';
import { rememberQueries } from '../../../../test/support/query-history.ts';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { writeLog } from '../../../../test/support/write-log.ts';
import { canonicalJson } from '../../../activity/canonical-entry.ts';
import { changeAccount } from '../../../activity/record-entry.ts';
import { sealEntries } from '../../../activity/seals/record-seals.ts';
import { isSignedText } from '../../../activity/seals/seal.ts';
import { changeTags, requireTags } from '../../../connections/tags/change-tags.ts';
import type { Endpoint } from '../../../http/endpoint.ts';
import { storeChanges } from '../../../runs/changes/store-changes.ts';
import { storeDeadlock } from '../../../runs/episodes/deadlock.ts';
import { storeEpisode } from '../../../runs/episodes/store-episode.ts';
import { openPool } from '../../../store/connect.ts';
import { askEndpoint } from '../ask-fixture.ts';
import { fleetMeasures } from '../measures/fleet-latest.ts';
import { latestMeasures } from '../measures/latest-measures.ts';
import { measureHistory } from '../measures/measure-history.ts';
import { seals } from '../seals.ts';
import { alerts } from './alerts.ts';
import { changes, fleetChanges } from './changes.ts';
import { episodes } from './episodes.ts';
import { queries } from './queries.ts';

// One file for all nine endpoints: they share two filled accounts, whose store takes longer to start than these tests.

let store: TestStore;
let reader: ReturnType<typeof openPool>;

/** Two accounts with the same kinds of data, and their numbers: every value of an account is of its own. */
interface Filled {
  accountId: number;
  connectionId: number;
  value: number;
}
let mine: Filled;
let theirs: Filled;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 4, pipeline: true });
  mine = await fill(0.25);
  theirs = await fill(0.75);
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

async function fill(value: number): Promise<Filled> {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId, { name: `db ${value}` });
  const key = { accountId, connectionId };
  await writeHistory(store.writer, key, value);
  await writeAlerts(store.writer, key);
  await rememberQueries(
    store,
    key,
    [
      ['-8000000000000000000', value],
      ['42', value / 2],
    ],
    `role ${value}`,
  );
  await storeEpisode(store.writer, key, {
    began_at: new Date('2026-05-01T10:00:00.123Z'),
    root: '17 of Monday',
    seen_at: new Date('2026-05-01T10:05:00Z'),
    ended_at: null,
    database: 'shop',
    role: `role ${value}`,
    application: '',
    most_sessions: 3,
    longest_seconds: 300,
    lost_seconds: 700.5,
    trees: [],
  });
  const tag = (change: Parameters<typeof changeTags>[0]) =>
    changeTags(change, [connectionId], { add: requireTags(['env:production', 'pci']) });
  await tag((work) => changeAccount(store.writer, accountId, work));
  return { accountId, connectionId, value };
}

const ask = (endpoint: Endpoint, asked = '', account = mine, id: number | string = account.connectionId) =>
  askEndpoint(reader, endpoint, account.accountId, { asked, id: endpoint.path.includes(':id') ? id : '' });

const METRIC = 'metric=connections_used_ratio';
const OF_CONNECTION: [Endpoint, string][] = [
  [latestMeasures, ''],
  [measureHistory, METRIC],
  [changes, ''],
  [queries, ''],
  [episodes, ''],
];
const ALL: [Endpoint, string][] = [
  ...OF_CONNECTION,
  [fleetMeasures, METRIC],
  [fleetChanges, ''],
  [alerts, ''],
  [seals, ''],
];
const toCase = ([endpoint, asked]: [Endpoint, string]) => [endpoint.path, endpoint, asked] as const;

describe('what they answer', () => {
  test('the latest values, with unit and thresholds', async () => {
    const { body } = await ask(latestMeasures);
    const ratio = {
      metric: 'connections_used_ratio',
      unit: 'ratio',
      check_id: 'PG_CONN_SATURATION',
      database: null,
      object: null,
      value: 0.25,
      operator: '>=',
      warning: 0.8,
      critical: 0.9,
      measured_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      full_at: null,
    };
    const vital = { check_id: null, metric: 'transactions_per_second', operator: null, warning: null };
    expect(body.data).toEqual(
      expect.arrayContaining([expect.objectContaining(ratio), expect.objectContaining(vital)]),
    );
    expect(body.meta).toEqual({ total: 2, page: 1, per_page: 2, has_more: false });
    const second = await ask(latestMeasures, 'per_page=1&page=2');
    expect(second.body.data).toEqual(body.data.slice(1));
    expect(second.body.meta).toEqual({ total: 2, page: 2, per_page: 1, has_more: false });
  });

  test.each([
    ['', 'run', 2],
    ['&step=5m', '5m', 1],
    ['&step=1h', '1h', 1],
    ['&from=2020-01-01', '1d', 1],
  ])('a history with "%s" has the step %s', async (more, step, least) => {
    const { body } = await ask(measureHistory, METRIC + more);
    expect(body.meta).toMatchObject({
      step,
      metric: 'connections_used_ratio',
      unit: 'ratio',
      total: body.data.length,
    });
    const measured = body.data.filter(({ value }: { value: number | null }) => value !== null);
    expect(measured.length).toBeGreaterThanOrEqual(least);
    for (const { min, value, max, check_id } of measured) {
      expect([min <= value, value <= max, check_id]).toEqual([true, true, 'PG_CONN_SATURATION']);
    }
    const times = body.data.map(({ at }: { at: string }) => at);
    expect(times).toEqual(times.toSorted());
  });

  test('one metric of all connections, by tags that must all match', async () => {
    const { body } = await ask(fleetMeasures, METRIC);
    expect(body.data).toEqual([
      expect.objectContaining({
        connection_id: mine.connectionId,
        connection_name: 'db 0.25',
        tags: ['env:production', 'pci'],
        value: 0.25,
      }),
    ]);
    expect(body.meta).toEqual({ total: 1, page: 1, per_page: 50, has_more: false, next: null });
    expect((await ask(fleetMeasures, `${METRIC}&tag=PCI&tag=env:production`)).body.data).toHaveLength(1);
    expect((await ask(fleetMeasures, `${METRIC}&tag=pci&tag=env:test`)).body.data).toEqual([]);
    expect((await ask(fleetMeasures, 'metric=no_such_metric')).body.data).toEqual([]);
  });

  test('changes of a connection and of all, with hidden values as `changed`', async () => {
    const { accountId, connectionId } = mine;
    await changeAccount(store.writer, accountId, ({ client, at }) =>
      storeChanges(client, { accountId, connectionId, at }, [
        {
          kind: 'setting',
          database: 'shop',
          subject: 'primary_conninfo',
          before: 'hidden (3f9a1c0d)',
          after: 'hidden (00000000)',
          source: null,
        },
      ]),
    );
    const { body } = await ask(changes);
    const secret = {
      kind: 'setting',
      name: 'primary_conninfo',
      database: 'shop',
      from: 'changed',
      to: 'changed',
    };
    expect(body.data[0]).toMatchObject(secret);
    expect(body.data[1]).toMatchObject({
      name: 'work_mem',
      database: null,
      from: '0.25',
      to: '0.25',
      source: 'file',
    });
    expect(body.meta.total).toBe(3);
    const { body: fleet } = await ask(fleetChanges, 'tag=pci');
    expect(fleet.data).toEqual(
      body.data.map((change: object) => ({
        ...change,
        connection_id: connectionId,
        connection_name: 'db 0.25',
      })),
    );
    expect((await ask(fleetChanges, 'tag=other')).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  test('queries with the most time first, never with a text', async () => {
    const { body } = await ask(queries, 'from=2020-01-01');
    expect(body.data).toEqual([
      expect.objectContaining({ query_id: '-8000000000000000000', role: 'role 0.25', mean_seconds: 0.25 }),
      expect.objectContaining({ query_id: '42', mean_seconds: 0.125 }),
    ]);
    expect(Object.keys(body.data[0])).not.toContain('text');
    const last = await ask(queries, 'from=2020-01-01&per_page=1&page=2');
    expect(last.body).toEqual({
      data: body.data.slice(1),
      meta: { total: 2, page: 2, per_page: 1, has_more: false },
    });
    expect((await ask(queries, 'from=2020-01-01&page=9')).body.meta.total).toBe(2);
    expect((await ask(queries, 'to=2020-01-01')).body.data).toEqual([]);
  });

  test('blocking episodes', async () => {
    const { body } = await ask(episodes);
    expect(body.data).toEqual([
      {
        kind: 'blocking',
        began_at: '2026-05-01T10:00:00.123Z',
        seen_at: '2026-05-01T10:05:00.000Z',
        ended_at: '2026-05-01T10:05:00.000Z', // no monitor has seen it since
        database: 'shop',
        role: 'role 0.25',
        application: null,
        most_sessions: 3,
        longest_seconds: 300,
        lost_seconds: 700.5,
        transactions: [],
      },
    ]);
    expect(
      (await ask(episodes, 'from=2026-05-01T10:00:00.123Z&to=2026-05-01T10:00:00.123Z')).body.meta.total,
    ).toBe(1);
    const { accountId, connectionId } = mine;
    const transaction = { digest: 'ab12', command: 'UPDATE', tables: ['shop.orders'], is_victim: true };
    const deadlock = { at: new Date('2026-04-01T00:00:00Z'), transactions: [transaction] };
    await storeDeadlock(store.writer, { accountId, connectionId }, deadlock);
    const { digest: query_id, ...rest } = transaction;
    expect((await ask(episodes, 'per_page=1&page=2')).body).toMatchObject({
      data: [
        {
          kind: 'deadlock',
          began_at: '2026-04-01T00:00:00.000Z',
          lost_seconds: null,
          transactions: [{ query_id, ...rest }],
        },
      ],
      meta: { total: 2, has_more: false },
    });
    expect((await ask(episodes, 'from=2026-05-02')).body).toMatchObject({ data: [], meta: { total: 0 } });
  });

  test('alerts with the fields of the events, by filters that combine', async () => {
    const { body } = await ask(alerts);
    expect(body.data).toHaveLength(2);
    for (const alert of body.data) {
      expect(alert).toMatchObject({
        alert_id: alert.id,
        connection: { id: mine.connectionId, name: 'db 0.25', port: 5432, connection_type: 'unix_socket' },
        metric: 'score',
        operator: '<',
        threshold: 50,
        severity: 'critical',
        triggered_at: expect.any(String),
      });
    }
    const statuses = async (asked: string) =>
      (await ask(alerts, asked)).body.data.map(
        ({ status, resolved_at }: { status: string; resolved_at: string | null }) => [
          status,
          resolved_at === null,
        ],
      );
    expect(await statuses('status=open')).toEqual([['open', true]]);
    expect(await statuses(`status=resolved&severity=critical&connection_id=${mine.connectionId}`)).toEqual([
      ['resolved', false],
    ]);
    expect(await statuses('severity=info')).toEqual([]);
    expect(await statuses('to=2020-01-01')).toEqual([]);
    expect((await ask(alerts, `connection_id=${theirs.connectionId}`)).error?.code).toBe('not_found');
  });

  test('seals that verify without the store, in a chain', async () => {
    const accountId = await writeLog(store, { length: 60, rare: 'event', days: 3 });
    const owner = openPool(store.address, 'owner', { max: 1 });
    for await (const _ of sealEntries({ owner, secret: store.deps.secret, activityDays: null }));
    await owner.end();
    const { body } = await askEndpoint(reader, seals, accountId);
    expect(body.data.length).toBeGreaterThan(1);
    let previous = '0'.repeat(64);
    let next = 1;
    for (const { signature, ...seal } of body.data) {
      const text = canonicalJson(seal);
      expect(isSignedText(text, signature, seal.public_key)).toBe(true);
      expect([seal.previous, seal.first_id, seal.account_id]).toEqual([previous, next, accountId]);
      previous = hash('sha256', text);
      next = seal.last_id + 1;
    }
    expect(body.meta).toEqual({ total: body.data.length, page: 1, per_page: 50, has_more: false });
    const second = await askEndpoint(reader, seals, accountId, { asked: 'per_page=1&page=2' });
    expect(second.body.data).toEqual(body.data.slice(1, 2));
  });
});

describe('what they refuse', () => {
  test.each(OF_CONNECTION.map(toCase))('%s: no connection of the account', async (_, endpoint, asked) => {
    const gone = await store.connection(mine.accountId);
    await store.writer.query('update connection set removed_at = now() where connection_id = $1', [gone]);
    for (const id of [theirs.connectionId, gone, 999_999_999, 0, -1, '01', 'abc', '9007199254740993', "1'"])
      expect((await ask(endpoint, asked, mine, id)).error, String(id)).toEqual({
        code: 'not_found',
        parameter: null,
      });
  });

  test.each(ALL.map(toCase))(
    "%s: nothing of another account's, whatever is asked",
    async (_, endpoint, asked) => {
      const texts = async (account: Filled) =>
        JSON.stringify((await ask(endpoint, `${asked}&_=1`, account)).body).replaceAll(
          /"(?:at|measured_at)":"[^"]*"/g,
          '',
        );
      expect(await texts(mine)).not.toMatch(/0\.75|0\.375/);
      expect(await texts(theirs)).not.toMatch(/0\.25\b|0\.125/);
    },
  );

  const ranged = ALL.filter(([{ query }]) => 'from' in query.properties);
  test.each(ranged.map(toCase))(
    '%s: the years 0001 and 9999 are ranges as others',
    async (_, endpoint, asked) => {
      for (const range of [
        'from=0001-01-01&to=9999-12-31',
        'from=0001-01-01T00:00:00%2B14:00',
        'to=9999-12-31T23:59:59.999999999-14:00',
        'from=9999-12-31',
        'to=0001-01-01',
      ])
        expect((await ask(endpoint, `${asked}&${range}`)).error, range).toBeNull();
      const backwards = await ask(endpoint, `${asked}&from=2026-01-02&to=2026-01-01`);
      expect(backwards.error).toEqual({ code: 'invalid_parameter', parameter: 'from' });
    },
  );

  test.each(ALL.map(toCase))(
    '%s: a parameter that is unknown, repeated, empty or wrong',
    async (_, endpoint, asked) => {
      const names = Object.keys(endpoint.query.properties);
      const single = names.filter((name) => name !== 'tag' && !asked.startsWith(name));
      const wrong: [string, string][] = [
        ['limit=1', 'limit'],
        ...single.map((name): [string, string] => [`${name}=1&${name}=1`, name]),
        ...single.map((name): [string, string] => [`${name}=`, name]),
        ...single.map((name): [string, string] => [`${name}=%00`, name]),
      ];
      for (const [query, parameter] of wrong) {
        if (/^(?:database|object)=%00/.test(query)) continue;
        expect((await ask(endpoint, `${asked}&${query}`)).error, query).toEqual({
          code: 'invalid_parameter',
          parameter,
        });
      }
    },
  );

  test('no metric, or none that could be', async () => {
    for (const endpoint of [measureHistory, fleetMeasures])
      for (const asked of [
        '',
        'metric=A',
        "metric=a'b",
        'metric=a%00',
        `metric=${'a'.repeat(64)}`,
        `${METRIC}&${METRIC}`,
      ])
        expect((await ask(endpoint, asked)).error, asked).toEqual({
          code: 'invalid_parameter',
          parameter: 'metric',
        });
  });

  test('tags with strange text: none that a connection could have', async () => {
    const tagged = [fleetMeasures, fleetChanges].map(
      (endpoint) => [endpoint, endpoint === fleetMeasures ? METRIC : ''] as const,
    );
    for (const [endpoint, asked] of tagged) {
      for (const tag of [
        '%00',
        'a%20b',
        "a'b",
        'a,b',
        '{a}',
        '%22',
        ':',
        'a'.repeat(101),
        '%F0%9F%92%A9',
        '%ED%A0%80',
        '',
      ])
        expect((await ask(endpoint, `${asked}&tag=pci&tag=${tag}`)).error, tag).toEqual({
          code: 'invalid_parameter',
          parameter: 'tag',
        });
      expect((await ask(endpoint, `${asked}${'&tag=pci'.repeat(21)}`)).error?.parameter).toBe('tag');
      expect(
        (await ask(endpoint, `${asked}${'&tag=%EF%BC%B0ci'.repeat(20)}`)).body.meta.total,
      ).toBeGreaterThan(0);
    }
  });

  test('names of databases and objects with strange text', async () => {
    for (const name of ['%00', "'", '%22', '%F0%9F%92%A9', '%ED%A0%80', 'a'.repeat(5_000)])
      for (const parameter of ['database', 'object'])
        expect((await ask(measureHistory, `${METRIC}&${parameter}=${name}`)).body?.data, name).toEqual([]);
  });
});

describe('a history has at most 2,000 points', () => {
  test('of an explicit step that gives more, it is an error; else a longer step is chosen', async () => {
    const { accountId, connectionId } = mine;
    await store.writer.query(
      `with many as (
         insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at)
         select $1, $2, 100 + n, 100 + n, '', 'table_bytes', 'shop', 't' || n, now() from generate_series(1, 40) n
       )
       insert into measure_hour (account_id, connection_id, series_id, day, last)
       select $1, $2, 100 + n, (now() - d * interval '1 day')::date, array_fill(n::real, array[24])
         from generate_series(1, 40) n, generate_series(1, 30) d`,
      [accountId, connectionId],
    );
    const month = new Date(Date.now() - 29 * 86_400_000).toISOString();
    const asked = `metric=table_bytes&from=${month}`;
    expect((await ask(measureHistory, `${asked}&step=1h`)).error).toEqual({
      code: 'invalid_parameter',
      parameter: 'step',
    });
    const { body } = await ask(measureHistory, asked);
    expect(body.meta.step).toBe('1d');
    expect(body.data.length).toBeGreaterThan(1_000);
    expect(body.data.length).toBeLessThanOrEqual(2_000);
    const one = await ask(measureHistory, `${asked}&step=1h&database=shop&object=t7`);
    expect(one.body.data.length).toBeGreaterThan(600);
    expect(new Set(one.body.data.map(({ object }: { object: string }) => object))).toEqual(new Set(['t7']));
  });

  test('of very many series it asks for one of them', async () => {
    await store.writer.query(
      `insert into measure_series (account_id, connection_id, series_id, check_id, metric, database, object, last_seen_at)
       select $1, $2, 200 + n, '', 'index_bytes', 'shop', 'i' || n, now() from generate_series(1, 60) n`,
      [mine.accountId, mine.connectionId],
    );
    expect((await ask(measureHistory, 'metric=index_bytes')).error).toEqual({
      code: 'invalid_parameter',
      parameter: 'object',
    });
    expect((await ask(measureHistory, 'metric=index_bytes&object=i3')).error).toBeNull();
  });
});

describe('pages by cursor', () => {
  const insertChange = `
    insert into connection_change (account_id, connection_id, at, kind, subject)
    select $1, $2, $3::timestamptz + n % 3 * interval '1 microsecond', 'setting', 's' || n from generate_series(1, $4) n`;

  test('neither repeat nor miss a row, whatever is added meanwhile and however long the pages are', async () => {
    const accountId = await store.account();
    const connectionId = await store.connection(accountId);
    await store.writer.query(insertChange, [accountId, connectionId, '2026-01-01', 60]);
    const account = { accountId, connectionId, value: 0 };
    const walk = async (endpoint: Endpoint, perPage: number, added: number) => {
      const ids: number[] = [];
      const whole = (await ask(endpoint, 'per_page=100', account)).body.data.map(
        ({ id }: { id: number }) => id,
      );
      for (let asked: string | null = `per_page=${perPage}`; asked !== null; ) {
        const { body, next } = await ask(endpoint, asked, account);
        ids.push(...body.data.map(({ id }: { id: number }) => id));
        expect(body.meta.next).toBe(next?.get('after') ?? null);
        asked = next?.toString() ?? null;
        if (added > 0) await store.writer.query(insertChange, [accountId, connectionId, new Date(), added]);
      }
      expect(ids.slice(0, 100)).toEqual(whole);
      await store.writer.query('delete from connection_change where account_id = $1 and at > $2', [
        accountId,
        '2026-02-01',
      ]);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(changes, fleetChanges),
        fc.integer({ min: 1, max: 61 }),
        fc.nat(2),
        walk,
      ),
      { numRuns: 12 },
    );
  });

  test('a cursor that is forged, of another list, connection or account is refused', async () => {
    const readCursor = async (endpoint: Endpoint, account: Filled) =>
      (await ask(endpoint, 'per_page=1', account)).next?.get('after') ?? '';
    const own = await readCursor(changes, mine);
    expect((await ask(changes, `after=${own}`)).error).toBeNull();
    const mark = Buffer.from(own, 'base64url').toString().split(' ')[0];
    const forged = (text: string) => Buffer.from(text).toString('base64url');
    const wrong = [
      await readCursor(changes, theirs),
      await readCursor(fleetChanges, mine),
      await readCursor(alerts, mine),
      `${own}A`,
      `${own}=`,
      own.slice(0, -1),
      'x',
      '%00',
      forged(`${mark} 2026-02-30T00:00:00.000000Z 1`),
      forged(`${mark} 0000-01-01T00:00:00.000000Z 1`),
      forged(`${mark} infinity 1`),
      forged(`${mark} 2026-01-01T00:00:00.000000Z 9999999999999999999`),
      forged(`${mark} 2026-01-01T00:00:00.000000Z -1`),
      forged(`${mark} 2026-01-01T00:00:00.000000Z 1 1`),
      forged(`${mark} 2026-01-01T00:00:00.000000Z`),
    ];
    for (const cursor of wrong)
      expect((await ask(changes, `after=${cursor}`)).error, cursor).toEqual({
        code: 'invalid_parameter',
        parameter: 'after',
      });
    const overflow = forged(`${Buffer.from(await readCursor(fleetMeasures, mine), 'base64url')} 1`);
    expect((await ask(fleetMeasures, `${METRIC}&after=${overflow}`)).error?.parameter).toBe('after');
  });

  test('page numbers reach what is counted; a page past the end is empty with the true total', async () => {
    const { body } = await ask(fleetChanges, 'page=2&per_page=2');
    expect(body.meta).toMatchObject({ page: 2, per_page: 2, has_more: false });
    expect(body.data).toEqual((await ask(fleetChanges)).body.data.slice(2));
    for (const page of ['100', '9007199254740991'])
      expect((await ask(fleetChanges, `page=${page}`)).body, page).toMatchObject({
        data: [],
        meta: { total: body.meta.total },
      });
    const accountId = await store.account();
    const connectionId = await store.connection(accountId);
    await store.writer.query(insertChange, [accountId, connectionId, '2026-01-01', 10_001]);
    const many = { accountId, connectionId, value: 0 };
    expect((await ask(changes, 'page=201', many)).error).toEqual({
      code: 'invalid_parameter',
      parameter: 'page',
    });
    const last = await ask(changes, 'page=200', many);
    expect(last.body.meta).toMatchObject({ total: null, has_more: true });
    expect((await ask(changes, last.next?.toString(), many)).body).toMatchObject({
      data: [{}],
      meta: { page: 201, has_more: false },
    });
  });
});
