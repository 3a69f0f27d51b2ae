import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { changeTags, requireTags } from '../../connections/tags/change-tags.ts';
import { openPool } from '../../store/connect.ts';
import { askEndpoint } from './ask-fixture.ts';
import { tickets } from './tickets.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 4, pipeline: true });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

const ask = (accountId: number, asked = '') => askEndpoint(reader, tickets, accountId, { asked });

const insert = `
  insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status, metric_line,
                      remediation, first_seen_at, last_seen_at, measured)
  select $1, $2, 'PG_' || n % 3, 'app', 'o' || n || '.' || $4::text, 'c', 't', (array['critical', 'warning', 'info'])[1 + n % 3], 'open',
         'm', 'r', $5, $5, '{"metric": "dead_rows_ratio", "value": 0.4, "operator": ">=", "threshold": 0.2}'
    from generate_series(1, $3) n`;

const change = <T>(accountId: number, work: (client: pg.ClientBase, at: string) => Promise<T>) =>
  changeAccount(store.writer, accountId, ({ client, at }) => work(client, at));
let batches = 0;
const open = (accountId: number, connectionId: number, count: number) =>
  change(accountId, (client, at) => client.query(insert, [accountId, connectionId, count, batches++, at]));

async function newAccount(): Promise<{ accountId: number; connectionId: number; memberId: number }> {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId, { name: 'orders' });
  const { rows } = await store.writer.query<{ member_id: number }>(
    `insert into member (account_id, name, email, roles, status, joined_at)
     values ($1, 'Ada', 'ada@example.com', '{owner}', 'active', now()) returning member_id`,
    [accountId],
  );
  return { accountId, connectionId, memberId: rows[0]?.member_id ?? 0 };
}

type Ticket = Record<string, unknown> & { id: number };

/** A mirror: what it has by id, and its cursor. */
class Mirror {
  readonly tickets = new Map<number, Ticket>();
  /** How often a ticket was given in the same state. */
  repeated = 0;
  #after: string | null = null;
  readonly #accountId: number;
  readonly #more: string;

  constructor(accountId: number, more = '') {
    this.#accountId = accountId;
    this.#more = more;
  }

  /** Reads until nothing more follows. */
  async catchUp(perPage = 100): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const place: string = this.#after === null ? '' : `&after_update=${this.#after}`;
      const { body } = await ask(this.#accountId, `order=asc&per_page=${perPage}${place}${this.#more}`);
      for (const { updated_at, ...ticket } of body.data) {
        if (JSON.stringify(this.tickets.get(ticket.id)) === JSON.stringify(ticket)) this.repeated += 1;
        this.tickets.set(ticket.id, ticket);
      }
      this.#after = body.meta.after_update;
      hasMore = body.meta.has_more;
    }
  }
}

async function readWhole(accountId: number, more = ''): Promise<Ticket[]> {
  const all: Ticket[] = [];
  for (let page = 1, hasMore = true; hasMore; page += 1) {
    const { body } = await ask(accountId, `per_page=100&page=${page}${more}`);
    all.push(...body.data);
    hasMore = body.meta.has_more;
  }
  return all.sort((a, b) => a.id - b.id);
}
/** Without the tags of resolved tickets: a change of tags counts for open ones. */
const withoutOldTags = (all: Ticket[]) =>
  all.map((ticket) => (ticket['status'] === 'open' ? ticket : { ...ticket, tags: null }));
const sorted = (mirror: Mirror) => [...mirror.tickets.values()].sort((a, b) => a.id - b.id);

const INCLUDE = '&include=measured,triage,tags,url';

describe('a mirror', () => {
  test('and full reads agree after 1,000 random changes by many writers, while the mirror reads', async () => {
    const { accountId, connectionId, memberId } = await newAccount();
    const connections = [connectionId];
    for (let n = 1; n < 24; n++) connections.push(await store.connection(accountId, { name: `db ${n}` }));
    const choose = (n: number) => connections[n % connections.length] ?? 0;
    for (const id of connections) await open(accountId, id, 3);
    const mirror = new Mirror(accountId, INCLUDE);
    type Kind = (change: Change, n: number) => Promise<unknown>;
    const update =
      (set: string): Kind =>
      ({ client, at }, n) =>
        client.query(
          `update ticket set ${set.replaceAll('$at', '$3::timestamptz')}
            where account_id = $1 and ticket_id in (select ticket_id from ticket where account_id = $1 and number % 97 = $2)
              and $3::timestamptz is not null`,
          [accountId, n % 97, at],
        );
    const tag: Kind = (change, n) =>
      changeTags((work) => work(change), [choose(n)], {
        add: requireTags([`env:e${n}`, `t${n % 5}`]),
        remove: [`t${(n + 1) % 5}`],
      });
    const triage: Kind = ({ client, at }, n) =>
      client.query(
        `insert into ticket_triage as g (account_id, ticket_id, changed_at, changed_by, assignee_id, acknowledged_at, acknowledged_severity)
         select $1, ticket_id, $3, 'Ada', $4, $3, severity from ticket where account_id = $1 and number % 97 = $2
         on conflict (account_id, ticket_id) do update set assignee_id = excluded.assignee_id, acknowledged_at = $3`,
        [accountId, n % 97, at, n % 2 === 0 ? memberId : null],
      );
    const rename: Kind = ({ client }, n) =>
      client.query('update connection set name = $2 where connection_id = $1', [choose(n), `orders ${n}`]);
    const kinds: Kind[] = [
      ({ client, at }, n) => client.query(insert, [accountId, choose(n), 1 + (n % 3), batches++, at]),
      update(`status = 'resolved', resolved_at = $at, resolution = 'x'`),
      update(`status = 'open', resolved_at = null, reopened_at = reopened_at || $at`),
      update('last_seen_at = $at'),
      update(`severity = 'warning', metric_line = metric_line || '.'`),
      tag,
      triage,
      rename,
    ];
    const changes = fc.sample(fc.tuple(fc.nat(kinds.length - 1), fc.nat(1_000)), { numRuns: 1_000, seed: 7 });
    // As a run does, each writer commits several changes together.
    const write = (some: typeof changes) =>
      changeAccount(store.writer, accountId, async (work) => {
        for (const [kind, n] of some) await kinds[kind]?.(work, n);
      });
    while (changes.length > 0) {
      const writers = Array.from({ length: 5 }, () => write(changes.splice(0, 4)));
      await Promise.all([mirror.catchUp(7), ...writers]);
    }
    await mirror.catchUp();
    expect(withoutOldTags(sorted(mirror))).toEqual(withoutOldTags(await readWhole(accountId, INCLUDE)));
    await store.writer.query('delete from member where member_id = $1', [memberId]);
    await mirror.catchUp();
    expect(withoutOldTags(sorted(mirror))).toEqual(withoutOldTags(await readWhole(accountId, INCLUDE)));
    expect(sorted(mirror).every(({ assignee_id }) => assignee_id === null)).toBe(true);
  });

  test('gets a change that commits late, with an earlier time, and none twice', async () => {
    const { accountId, connectionId } = await newAccount();
    await open(accountId, connectionId, 2);
    const mirror = new Mirror(accountId);
    await mirror.catchUp();
    let isCommitted = false;
    const late = change(accountId, async (client) => {
      await client.query(`update ticket set title = 'late' where account_id = $1 and number = 1`, [
        accountId,
      ]);
      await client.query('select pg_sleep(0.1)');
      isCommitted = true;
    });
    // It begins later, and waits for the lock of the other: its number is higher.
    const early = change(accountId, (client) =>
      client.query(`update ticket set title = 'early' where account_id = $1 and number = 2`, [accountId]),
    );
    while (!isCommitted) await mirror.catchUp();
    await Promise.all([late, early]);
    await mirror.catchUp();
    expect(sorted(mirror).map(({ title }) => title)).toEqual(['late', 'early']);
    await mirror.catchUp();
    expect(mirror.repeated).toBe(0);
  });

  test('waits for a writer who did not take the lock first', async () => {
    const { accountId, connectionId } = await newAccount();
    await open(accountId, connectionId, 2);
    const [one, two] = [await store.writer.connect(), await store.writer.connect()];
    await one.query('begin');
    await one.query(`update ticket set title = 'one' where account_id = $1 and number = 1`, [accountId]);
    const second = two.query(`update ticket set title = 'two' where account_id = $1 and number = 2`, [
      accountId,
    ]);
    const mirror = new Mirror(accountId);
    await mirror.catchUp();
    expect(sorted(mirror).map(({ title }) => title)).toEqual(['t', 't']);
    await one.query('commit');
    await second;
    one.release();
    two.release();
    await mirror.catchUp();
    expect(sorted(mirror).map(({ title }) => title)).toEqual(['one', 'two']);
  });

  test('follows the Link header, and asks by the last updated_at that it saw', async () => {
    const { accountId, connectionId } = await newAccount();
    await open(accountId, connectionId, 5);
    const first = await ask(accountId, 'order=asc&per_page=2');
    expect(first.body.meta).toMatchObject({ total: 5, page: 1, per_page: 2, has_more: true });
    const second = await ask(accountId, first.next?.toString());
    const third = await ask(accountId, second.next?.toString());
    expect(third.next).toBeNull();
    const ids = [first, second, third].flatMap(({ body }) => body.data.map(({ id }: Ticket) => id));
    expect(ids).toEqual((await readWhole(accountId)).map(({ id }) => id));
    const [last] = third.body.data;
    expect((await ask(accountId, `updated_since=${last.updated_at}`)).body.data).toContainEqual(last);
    expect((await ask(accountId, 'updated_since=2099-01-01')).body).toMatchObject({
      data: [],
      meta: { total: 0 },
    });
    expect((await ask(accountId, 'updated_since=0001-01-01')).body.meta.total).toBe(5);
    expect((await ask(accountId, 'updated_since=9999-12-31&order=asc')).body.data).toEqual([]);
    // Latest change first, by page.
    await change(accountId, (client) =>
      client.query(`update ticket set title = 'x' where account_id = $1 and ticket_id = $2`, [
        accountId,
        ids[1],
      ]),
    );
    const latest = await ask(accountId, 'updated_since=2020-01-01&per_page=1');
    expect(latest.body.data[0]).toMatchObject({ id: ids[1], title: 'x' });
    expect(latest.next?.get('page')).toBe('2');
    // Its cursor begins the next page there, whatever changed meanwhile.
    await change(accountId, (client) =>
      client.query(`update ticket set title = 'y' where account_id = $1 and ticket_id = $2`, [
        accountId,
        ids[0],
      ]),
    );
    const older = await ask(accountId, latest.next?.toString());
    expect(older.body.data.map(({ id }: Ticket) => id)).toEqual([ids[4]]);
    expect((await ask(accountId, `order=asc&after=${latest.next?.get('after')}`)).error?.parameter).toBe(
      'after',
    );
    expect(Object.keys(latest.body.meta)).not.toContain('after_update');
  });

  test('a cursor that is forged or of another account is refused', async () => {
    const [mine, theirs] = [await newAccount(), await newAccount()];
    await open(theirs.accountId, theirs.connectionId, 3);
    const { body } = await ask(theirs.accountId, 'order=asc');
    for (const cursor of [body.meta.after_update, 'x', '41', `${body.meta.after_update}A`, '%00'])
      expect((await ask(mine.accountId, `order=asc&after_update=${cursor}`)).error, cursor).toEqual({
        code: 'invalid_parameter',
        parameter: 'after_update',
      });
    const own = (await ask(mine.accountId, 'order=asc')).body;
    expect(own).toMatchObject({ data: [], meta: { total: 0, has_more: false } });
    await open(mine.accountId, mine.connectionId, 1);
    expect(
      (await ask(mine.accountId, `order=asc&after_update=${own.meta.after_update}`)).body.data,
    ).toHaveLength(1);
  });
});

describe('filters and fields', () => {
  test('tag, check and the other filters combine, in each order', async () => {
    const { accountId, connectionId } = await newAccount();
    const other = await store.connection(accountId, { name: 'other' });
    await open(accountId, connectionId, 9);
    await open(accountId, other, 9);
    await changeTags((work) => changeAccount(store.writer, accountId, work), [connectionId], {
      add: requireTags(['pci', 'env:x']),
    });
    for (const order of ['', '&order=asc', '&order=desc', '&updated_since=2020-01-01']) {
      const count = async (asked: string) => {
        const { body } = await ask(accountId, asked + order);
        expect(body.data).toHaveLength(body.meta.total);
        return body.meta.total;
      };
      expect(await count('tag=pci')).toBe(9);
      expect(await count('tag=pci&tag=ENV:x&check_id=PG_1')).toBe(3);
      expect(await count('tag=pci&tag=env:y')).toBe(0);
      expect(await count('check_id=PG_2&severity=info')).toBe(6);
      expect(await count(`check_id=PG_2&severity=info&connection_id=${other}`)).toBe(3);
      expect(await count('check_id=PG_2&severity=critical')).toBe(0);
      expect(await count('check_id=pg%00')).toBe(0);
      expect(await count('check_id=PG_1&status=resolved')).toBe(0);
      expect(await count('check_id=PG_1&from=2020-01-01&to=9999-12-31')).toBe(6);
      expect(await count('check_id=PG_1&to=2020-01-01')).toBe(0);
      expect((await ask(accountId, `check_id=PG_1&connection_id=999999999${order}`)).error?.code).toBe(
        'not_found',
      );
    }
    const { body, next } = await ask(accountId, 'tag=pci&per_page=5');
    expect([next?.get('page'), next?.get('tag')]).toEqual(['2', 'pci']);
    const rest = await ask(accountId, next?.toString());
    expect(new Set([...body.data, ...rest.body.data].map(({ id }: Ticket) => id)).size).toBe(9);
    // A cursor of a list of tickets is none of the list of changes.
    for (const order of ['order=asc', 'order=desc'])
      expect((await ask(accountId, `${order}&after=${next?.get('after')}`)).error?.parameter).toBe('after');
    expect((await ask(accountId, `after=${next?.get('after')}`)).body.data).toHaveLength(4);
  });

  test('include adds exactly the fields that it names', async () => {
    const { accountId, connectionId, memberId } = await newAccount();
    await open(accountId, connectionId, 1);
    const [ticket] = (await ask(accountId)).body.data;
    await store.writer.query(
      `insert into ticket_triage (account_id, ticket_id, changed_at, changed_by, assignee_id, acknowledged_at, acknowledged_until, acknowledged_severity)
       values ($1, $2, now(), 'Ada', $3, '2026-01-01Z', '2026-01-02Z', 'critical')`,
      [accountId, ticket.id, memberId],
    );
    const plain = Object.keys(ticket);
    expect(plain).toHaveLength(14);
    const full = (await ask(accountId, `${INCLUDE.slice(1)}`)).body.data[0];
    expect(full).toEqual({
      ...ticket,
      metric: 'dead_rows_ratio',
      value: 0.4,
      unit: 'ratio',
      operator: '>=',
      threshold: 0.2,
      database: 'app',
      acknowledged_at: '2026-01-01T00:00:00.000Z',
      snoozed_until: '2026-01-02T00:00:00.000Z',
      assignee_id: memberId,
      tags: [],
      url: `http://localhost/tickets?status=all&ticket=${ticket.id}`,
    });
    expect(Object.keys((await ask(accountId, 'include=tags')).body.data[0])).toEqual([...plain, 'tags']);
    expect(Object.keys((await ask(accountId, 'check_id=PG_1')).body.data[0])).toEqual(plain);
  });

  test('a wrong or repeated value is refused by its name', async () => {
    const { accountId } = await newAccount();
    const wrong: [string, string][] = [
      ['order=ascending', 'order'],
      ['order=asc&order=asc', 'order'],
      ['updated_since=yesterday', 'updated_since'],
      ['updated_since=2026-02-30', 'updated_since'],
      ['updated_since=2026-01-01&updated_since=2026-01-01', 'updated_since'],
      ['check_id=A&check_id=B', 'check_id'],
      ['check_id=', 'check_id'],
      ['tag=a%20b', 'tag'],
      ['include=object', 'include'],
      ['include=url&include=url', 'include'],
      ['include=url,url', 'include'],
      ['from=2026-01-02&to=2026-01-01&order=asc', 'from'],
      ['from=2026-01-02&to=2026-01-01&check_id=A', 'from'],
    ];
    for (const [asked, parameter] of wrong)
      expect((await ask(accountId, asked)).error, asked).toEqual({ code: 'invalid_parameter', parameter });
  });
});
