import { expect, test } from 'vitest';
import { type Account, fillAccount, makeAccount, makeKey, makeKeylessAccount } from './account.ts';
import { ask, each, links, read } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, type Failure, integer, type List, TIME, type Ticket, time } from './records.ts';

const PATH = '/api/v1/ops/tickets';

const stranger = makeAccount({ plan: 'business' });
const filled = fill();

async function fill(): Promise<Account & { tickets: Ticket[]; connections: Connection[] }> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 6, tickets: 330, activity: 10, days: 40 });
  const { key, id: keyId } = await makeKey(id, 'suite');
  const connections = await read<List<Connection>>('/api/v1/health/connections', key);
  const pages = await each([1, 2, 3, 4], 4, (page) =>
    read<List<Ticket>>(`${PATH}?per_page=100&page=${page}`, key),
  );
  return { id, key, keyId, connections: connections.data, tickets: pages.flatMap(({ data }) => data) };
}

/** First and last millisecond of what a `from` or `to` names. */
function span(text: string): [number, number] {
  if (text.length === 10) return [Date.parse(text), Date.parse(text) + 86_399_999];
  const first = Date.parse(text);
  return [first, first + (text.includes('.') ? 0 : 999)];
}

function matching(tickets: Ticket[], filter: Record<string, string>): Ticket[] {
  const { status, severity, connection_id, from, to } = filter;
  return tickets.filter((ticket) => {
    const seen = Date.parse(ticket.first_seen_at);
    return (
      (status === undefined || ticket.status === status) &&
      (severity === undefined || ticket.severity === severity) &&
      (connection_id === undefined || ticket.connection_id === Number(connection_id)) &&
      (from === undefined || seen >= span(from)[0]) &&
      (to === undefined || seen <= span(to)[1])
    );
  });
}

test('200: every ticket with all its fields, the latest first', async () => {
  const { tickets, connections } = await filled;
  expect(tickets).toHaveLength(330);
  for (const ticket of tickets) {
    expect(ticket).toEqual({
      id: integer,
      connection_id: integer,
      connection_name: connections.find(({ id }) => id === ticket.connection_id)?.name,
      check_id: expect.stringMatching(/^[A-Z][A-Z0-9_]+$/),
      category: expect.stringMatching(/^[a-z_]+$/),
      title: expect.stringMatching(/\S/),
      object: expect.toSatisfy((object) => object === null || typeof object === 'string'),
      severity: expect.stringMatching(/^(critical|warning|info)$/),
      status: expect.stringMatching(/^(open|resolved)$/),
      metric_line: expect.any(String),
      remediation: expect.any(String),
      first_seen_at: time,
      last_seen_at: time,
      resolved_at: ticket.status === 'open' ? null : expect.stringMatching(TIME),
    });
  }
  const order = tickets.toSorted(
    (a, b) => Date.parse(b.first_seen_at) - Date.parse(a.first_seen_at) || b.id - a.id,
  );
  expect(tickets.map(({ id }) => id)).toEqual(order.map(({ id }) => id));
});

test('200: fifty a page unless told, and what lies past the end', async () => {
  const { key, tickets } = await filled;
  const first = await read<List<Ticket>>(PATH, key);
  expect(first).toEqual({
    data: tickets.slice(0, 50),
    meta: { total: 330, page: 1, per_page: 50, has_more: true },
  });
  expect(await read(`${PATH}?page=12&per_page=30`, key)).toEqual({
    data: [],
    meta: { total: 330, page: 12, per_page: 30, has_more: false },
  });
});

test('200: filters combine, as brute force over the whole list has it', async () => {
  const { key, tickets, connections } = await filled;
  const middle = tickets[160]?.first_seen_at ?? '';
  const early = tickets[280]?.first_seen_at ?? '';
  const instants = [middle, `${middle.slice(0, 19)}Z`, middle.slice(0, 19), middle.slice(0, 10)];
  const dates = [
    {},
    ...instants.flatMap((instant) => [{ from: instant }, { to: instant }]),
    { from: early, to: middle },
    { from: early.slice(0, 10), to: middle.slice(0, 10) },
    { from: middle, to: middle },
    // Seven digits without an offset, as one large SIEM sends them; as `to` they would name 100 ns only.
    { from: `${middle.slice(0, 23)}0000` },
  ];
  const filters = dates.flatMap((range) =>
    [{}, { status: 'open' }, { status: 'resolved' }].flatMap((status) =>
      [{}, { severity: 'critical' }, { severity: 'warning' }, { severity: 'info' }].flatMap((severity) =>
        [{}, { connection_id: String(connections[2]?.id) }].map(
          (connection): Record<string, string> => ({
            ...range,
            ...status,
            ...severity,
            ...connection,
          }),
        ),
      ),
    ),
  );
  let found = 0;
  await each(filters, 8, async (filter) => {
    const query = new URLSearchParams({ ...filter, per_page: '100' });
    const { data, meta } = await read<List<Ticket>>(`${PATH}?${query}`, key);
    const expected = matching(
      tickets,
      Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, utc(value)])),
    );
    expect(meta.total, String(query)).toBe(expected.length);
    expect(data, String(query)).toEqual(expected.slice(0, 100));
    found += expected.length;
  });
  expect(found).toBeGreaterThan(1_000);
});

// `Date.parse` takes a date-time without an offset for local time, and knows three fraction digits.
function utc(value: string): string {
  if (!value.includes('T')) return value;
  return /Z$/.test(value) ? value : `${value.slice(0, 23)}Z`;
}

test('200: offsets name the same instant', async () => {
  const { key, tickets } = await filled;
  const instant = tickets[100]?.first_seen_at ?? '';
  const shifted = (hours: number) =>
    new Date(Date.parse(instant) + hours * 3_600_000).toISOString().slice(0, 23);
  const bounds = [
    instant,
    `${shifted(2)}%2B02:00`,
    `${shifted(2)}+02:00`,
    `${shifted(2)} 02:00`.replace(' ', '%20'),
    `${shifted(-5)}-05:00`,
  ];
  const totals = await each(
    bounds,
    5,
    async (bound) => (await read<List<Ticket>>(`${PATH}?to=${bound}`, key)).meta.total,
  );
  expect(new Set(totals)).toEqual(new Set([matching(tickets, { to: instant }).length]));
});

test('200: Link pins the list: a ticket that is opened meanwhile neither repeats nor hides a row', async () => {
  const { id, key, tickets } = await filled;
  const url = 'postgres://watcher@127.0.0.1:1/shop';
  const added = await fixtureJson<Connection>([
    'connection',
    'add',
    '--account',
    String(id),
    '--name',
    'down',
    '--url',
    url,
  ]);
  const seen: Ticket[] = [];
  let path: string | undefined = `${PATH}?per_page=60`;
  while (path !== undefined) {
    const answer = await ask(path, { key });
    seen.push(...answer.json<List<Ticket>>().data);
    if (seen.length === 60) await fixtureJson(['check', 'run', '--connection', String(added.id)]);
    path = links(answer)['next'];
    if (path !== undefined) expect(path).toMatch(/[?&]to=/);
  }
  expect(seen.map((ticket) => ticket.id)).toEqual(tickets.map((ticket) => ticket.id));
  const now = await read<List<Ticket>>(`${PATH}?per_page=1`, key);
  expect(now.meta.total).toBe(331);
  expect(now.data[0]).toMatchObject({
    connection_id: added.id,
    check_id: 'CONN_UNREACHABLE',
    severity: 'critical',
    status: 'open',
  });

  await fixtureJson(['connection', 'remove', String(added.id)]);
  const { data } = await read<List<Ticket>>(`${PATH}?per_page=1`, key);
  expect(data[0]).toMatchObject({
    connection_name: 'down',
    status: 'resolved',
    resolved_at: expect.stringMatching(TIME),
  });
  expect((await ask(`${PATH}?connection_id=${added.id}`, { key })).status).toBe(404);
});

test("404: another account's connection answers as one that does not exist, byte for byte", async () => {
  const { connections } = await filled;
  const { key } = await stranger;
  const absent = await ask(`${PATH}?connection_id=999999999`, { key });
  expect(absent.status).toBe(404);
  for (const id of [connections[0]?.id, '9007199254740991']) {
    const answer = await ask(`${PATH}?connection_id=${id}`, { key });
    expect(answer.json<Failure>().error.code).toBe('not_found');
    expect(answer.bytes).toEqual(absent.bytes);
  }
});
