import { expect, test } from 'vitest';
import { fillAccount, makeKey, makeKeylessAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask, each, links, read } from './ask.ts';
import type { Entry, List } from './records.ts';

const PATH = '/api/v1/activity';

const filled = fill();

/** A log of sample entries and requests of two keys, and the part of it that no later request can change. */
async function fill(): Promise<{ key: string; writer: string; log: Entry[]; end: string }> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 4, tickets: 60, activity: 1_500, days: 20 });
  const { key } = await makeKey(id, 'suite');
  const { key: writer } = await makeKey(id, 'writer');
  await each(Array.from({ length: 60 }), 4, () => ask('/api/v1/health/fleet', { key: writer }));
  const all = await readLog(key);
  const end = all.at(-4)?.occurred_at ?? '';
  return { key, writer, end, log: all.filter(({ occurred_at }) => occurred_at <= end) };
}

/** First and last millisecond of a UTC instant or date. */
function span(text: string): [number, number] {
  if (text.length === 10) return [Date.parse(text), Date.parse(text) + 86_399_999];
  return [Date.parse(text), Date.parse(text) + (text.includes('.') ? 0 : 999)];
}

function matching(log: Entry[], filter: Record<string, string>): Entry[] {
  const { action_type, from, to, after_id, order } = filter;
  const found = log.filter((entry) => {
    const at = Date.parse(entry.occurred_at);
    return (
      (action_type === undefined || entry.action_type === action_type) &&
      (from === undefined || at >= span(from)[0]) &&
      (to === undefined || at <= span(to)[1]) &&
      (after_id === undefined || entry.id > Number(after_id))
    );
  });
  return order === 'asc' ? found : found.reverse();
}

test('200: combined filters give what a brute-force search of the whole log gives', async () => {
  const { key, log, end } = await filled;
  const at = (share: number) => log[Math.floor(log.length * share)]?.occurred_at ?? '';
  const types = [...new Set(log.map(({ action_type }) => action_type))];
  expect(types.length).toBeGreaterThan(3);
  const ranges: Record<string, string>[] = [
    { to: end },
    { from: at(0.3), to: end },
    { to: at(0.6) },
    { from: at(0.2), to: at(0.8) },
    { from: at(0.5), to: at(0.5) },
    { from: `${at(0.4).slice(0, 19)}Z`, to: `${at(0.7).slice(0, 19)}Z` },
    { from: '2001-01-01', to: '2001-12-31' },
    { to: '0001-01-01' },
  ];
  const filters = ranges.flatMap((range) =>
    [undefined, ...types, 'no_such_thing'].flatMap((type) =>
      [undefined, '0', '700', String(log.length - 3), '999999'].flatMap((after) =>
        [undefined, 'asc', 'desc'].map(
          (order): Record<string, string> => ({
            ...range,
            ...(type === undefined ? {} : { action_type: type }),
            ...(after === undefined ? {} : { after_id: after }),
            ...(order === undefined ? {} : { order }),
          }),
        ),
      ),
    ),
  );
  await each(filters, 8, async (filter) => {
    const expected = matching(log, filter);
    const pages = Math.ceil(expected.length / 40);
    const page = 1 + Math.floor(pages / 2);
    const query = new URLSearchParams({ ...filter, per_page: '40', page: String(page) });
    const { data, meta } = await read<List<Entry>>(`${PATH}?${query}`, key);
    expect(meta, String(query)).toEqual({
      total: expected.length,
      page,
      per_page: 40,
      has_more: page < pages,
    });
    expect(data, String(query)).toEqual(expected.slice((page - 1) * 40, page * 40));
  });
});

test('200: a filter by date takes the whole day', async () => {
  const { key, log, end } = await filled;
  const days = [...new Set(log.map(({ occurred_at }) => occurred_at.slice(0, 10)))].filter(
    (day) => day < end.slice(0, 10),
  );
  await each(days, 4, async (day) => {
    const { meta } = await read<List<Entry>>(`${PATH}?from=${day}&to=${day}`, key);
    expect(meta.total, day).toBe(matching(log, { from: day, to: day }).length);
  });
});

test.each(['desc', 'asc'])(
  '200: Link leads through the log in order %s while it grows: none missed, none twice',
  async (order) => {
    const { key, writer } = await filled;
    const seen: number[] = [];
    let path: string | undefined = `${PATH}?order=${order}&per_page=100`;
    let total = 0;
    while (path !== undefined) {
      const burst = each(Array.from({ length: 12 }), 6, () => ask('/api/v1/health/fleet', { key: writer }));
      const answer = await ask(path, { key });
      const { data, meta } = answer.json<List<Entry>>();
      if (seen.length === 0) total = meta.total;
      seen.push(...data.map(({ id }) => id));
      const relations = links(answer);
      expect('next' in relations).toBe(meta.has_more);
      expect('prev' in relations).toBe(meta.page > 1);
      path = relations['next'];
      if (path !== undefined) expect(path).toMatch(/[?&]to=/);
      await burst;
    }
    const sorted = seen.toSorted((a, b) => a - b);
    expect(sorted).toEqual(sorted.map((_, index) => index + 1));
    expect(seen).toEqual(order === 'asc' ? sorted : sorted.toReversed());
    // The pin lies just after the first page: at most what was under way then may be in it.
    expect(sorted.length).toBeGreaterThanOrEqual(total);
  },
);

test('200: a collector that pages by after_id gets every entry exactly once', async () => {
  const { key, writer, log } = await filled;
  const seen: number[] = [];
  let after = log.length;
  for (let turn = 0; turn < 25; turn += 1) {
    const burst = each(Array.from({ length: 20 }), 10, () => ask('/api/v1/health/fleet', { key: writer }));
    const { data } = await read<List<Entry>>(`${PATH}?order=asc&after_id=${after}&per_page=50`, key);
    seen.push(...data.map(({ id }) => id));
    after = seen.at(-1) ?? after;
    if (turn % 2 === 0) await burst;
    else void burst;
  }
  expect(seen).toEqual(seen.map((_, index) => log.length + 1 + index));
  expect(seen.length).toBeGreaterThan(300);
});

test('200: the Link header of a collector keeps after_id and points to the next page', async () => {
  const { key, log } = await filled;
  const seen: number[] = [];
  let path: string | undefined = `${PATH}?order=asc&after_id=1000&per_page=70`;
  while (path !== undefined && seen.length < 400) {
    const answer = await ask(path, { key });
    seen.push(...answer.json<List<Entry>>().data.map(({ id }) => id));
    path = links(answer)['next'];
  }
  expect(seen).toEqual(seen.map((_, index) => 1_001 + index));
  expect(seen.length).toBeGreaterThanOrEqual(Math.min(400, log.length - 1_000));
});

test('200: a `to` in the past is not changed', async () => {
  const { key, log } = await filled;
  const to = log[700]?.occurred_at ?? '';
  const relations = links(await ask(`${PATH}?to=${to}&per_page=10&page=2`, { key }));
  for (const relation of ['first', 'prev', 'next', 'last']) {
    expect(new URL(relations[relation] ?? '', 'http://any').searchParams.get('to'), relation).toBe(to);
  }
});

test('200: the time of a row, as it is shown, finds the row with any number of zeros behind', async () => {
  const { key, log } = await filled;
  const tickets = await read<List<{ id: number; first_seen_at: string }>>('/api/v1/ops/tickets', key);
  const places = [
    ...[0.2, 0.5, 0.9]
      .map((share) => log[Math.floor(log.length * share)])
      .map((entry) => ({
        path: PATH,
        id: entry?.id,
        at: entry?.occurred_at ?? '',
      })),
    ...tickets.data.slice(0, 3).map(({ id, first_seen_at: at }) => ({ path: '/api/v1/ops/tickets', id, at })),
  ];
  const idsIn = async (path: string, from: string, to: string) =>
    (await read<List<{ id: number }>>(`${path}?from=${from}&to=${to}`, key)).data.map(({ id }) => id);
  for (const { path, id, at } of places) {
    for (const zeros of ['', '0', '000', '000000']) {
      const exactly = `${at.slice(0, -1)}${zeros}Z`;
      expect(await idsIn(path, exactly, exactly), exactly).toContain(id);
    }
    const within = `${at.slice(0, -1)}5Z`;
    expect(await idsIn(path, '2000-01-01', within), within).toContain(id);
    expect(await idsIn(path, within, '2999-01-01'), within).not.toContain(id);
    const before = new Date(Date.parse(at) - 1).toISOString().replace('Z', '999999Z');
    expect(await idsIn(path, '2000-01-01', before), before).not.toContain(id);
  }
});
