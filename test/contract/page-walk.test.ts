import { expect, test, vi } from 'vitest';
import { type Account, fillAccount, makeKey, makeKeylessAccount } from './account.ts';
import { type Answer, ask, each, links, read } from './ask.ts';
import type { Entry, List } from './records.ts';

// Every documented way to read the log but the client package's, each while the log grows.
const PATH = '/api/v1/activity';
const SAMPLE = 10_000;
const ARRIVALS = 1_000;
// A walk takes 4 s alone, and 35 s were seen beside others on two cores.
vi.setConfig({ testTimeout: 180_000 });

/** An account with 10,000 entries of one day, for a walk of its own. */
async function filledAccount(): Promise<Pick<Account, 'id' | 'key'>> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 2, tickets: 20, activity: SAMPLE, days: 1 });
  const { key } = await makeKey(id, 'suite');
  return { id, key };
}

/** Requests of another key of the account, which a walk lets arrive while it reads a page. */
async function arrivals(accountId: number) {
  const { key } = await makeKey(accountId, 'arriving');
  const requestIds: string[] = [];
  return {
    requestIds,
    async some(count: number) {
      const batch = Array.from({ length: Math.min(count, ARRIVALS - requestIds.length) });
      const answers = await each(batch, 5, () => ask('/api/v1/health/fleet', { key }));
      requestIds.push(...answers.map(({ headers }) => headers['x-request-id'] ?? ''));
    },
  };
}

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

function idsOf(entries: Entry[]): number[] {
  return entries.map(({ id }) => id);
}

/** All that arrived is among the entries, once. */
function expectArrived(entries: Entry[], requestIds: string[]): void {
  const seen = entries.map(({ properties }) => properties['request_id']);
  const arrived = new Set(requestIds);
  expect(arrived.size).toBe(ARRIVALS);
  expect(seen.filter((id) => typeof id === 'string' && arrived.has(id))).toHaveLength(ARRIVALS);
}

test.each(['desc', 'asc'])(
  'following Link, order=%s: what was there at the first page, each entry once, in order',
  async (order) => {
    const { id, key } = await filledAccount();
    const { some, requestIds } = await arrivals(id);
    const walked: Entry[] = [];
    let there = 0;
    for (let path: string | undefined = `${PATH}?per_page=100&order=${order}`; path !== undefined; ) {
      const asked: Promise<Answer> = ask(path, { key });
      const [answer] = await Promise.all([asked, some(10)]);
      const { data, meta } = answer.json<List<Entry>>();
      if (there === 0) there = meta.total;
      // Nothing that arrives moves a later page.
      expect(meta.total).toBe(there);
      walked.push(...data);
      path = links(answer)['next'];
    }
    expect(requestIds).toHaveLength(ARRIVALS);
    expect(there).toBeGreaterThanOrEqual(SAMPLE);
    const expected = numbers(1, there);
    expect(idsOf(walked)).toEqual(order === 'asc' ? expected : expected.reverse());
  },
);

test('order=asc&after_id: every entry once and in order, what arrives during the walk included', async () => {
  const { id, key } = await filledAccount();
  const { some, requestIds } = await arrivals(id);
  const walked: Entry[] = [];
  for (;;) {
    const path = `${PATH}?order=asc&per_page=100&after_id=${walked.at(-1)?.id ?? 0}`;
    const [{ data }] = await Promise.all([read<List<Entry>>(path, key), some(10)]);
    walked.push(...data);
    if (data.length < 100) break;
  }
  expect(idsOf(walked)).toEqual(numbers(1, walked.length));
  expectArrived(walked, requestIds);
});

const WINDOW_MS = 5 * 60_000;

/** A time in the form that a collector with windows sends: whole seconds. */
function seconds(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** A window's entries, all pages by number. */
async function readWindow(key: string, from: string, to: string, meanwhile: () => Promise<void>) {
  const entries: Entry[] = [];
  for (let page = 1; ; page += 1) {
    const path = `${PATH}?from=${from}&to=${to}&per_page=100&page=${page}`;
    const [{ data, meta }] = await Promise.all([read<List<Entry>>(path, key), meanwhile()]);
    entries.push(...data);
    if (!meta.has_more) return entries;
  }
}

/**
 * Reads the log in windows of five minutes that end in the past and, once they have caught up, in as short ones as
 * whole seconds allow, until the last arrival lies in one. `gap` is from a window's `to` to the next one's `from`.
 */
async function readWindows(
  gap: number,
): Promise<{ walked: Entry[]; requestIds: string[]; edges: Set<number> }> {
  const { id, key } = await filledAccount();
  const { some, requestIds } = await arrivals(id);
  const { data } = await read<List<Entry>>(`${PATH}?order=asc&per_page=1`, key);
  const walked: Entry[] = [];
  const edges = new Set<number>();
  let from = Math.floor(Date.parse(data[0]?.occurred_at ?? '') / 1_000) * 1_000;
  for (let last = Number.POSITIVE_INFINITY; from <= last; ) {
    const whole = Math.floor(Date.now() / 1_000) * 1_000 - 1_000;
    const to = Math.min(from + WINDOW_MS, whole);
    if (to <= from) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    walked.push(...(await readWindow(key, seconds(from), seconds(to), () => some(5))));
    from = to + gap;
    edges.add(to);
    if (requestIds.length === ARRIVALS && last === Number.POSITIVE_INFINITY) last = Date.now();
  }
  return { walked, requestIds, edges };
}

test('windows that end when they are asked for: every entry once', async () => {
  const { id, key } = await filledAccount();
  const { some, requestIds } = await arrivals(id);
  const instant = () => new Date(Date.now() - 1).toISOString(); // the last whole millisecond
  const walked: Entry[] = [];
  let from = '0001-01-01';
  let until = Number.POSITIVE_INFINITY;
  while (Date.now() < until) {
    const arriving = some(20);
    await new Promise((resolve) => setTimeout(resolve, 2)); // so that some are on their way
    const to = instant();
    walked.push(...(await readWindow(key, from, to, async () => {})));
    from = new Date(Date.parse(to) + 1).toISOString();
    await arriving;
    if (requestIds.length === ARRIVALS && until === Number.POSITIVE_INFINITY) until = Date.now() + 100;
  }
  walked.push(...(await readWindow(key, from, instant(), async () => {})));
  const ids = idsOf(walked).toSorted((one, other) => one - other);
  expect(ids).toEqual(numbers(1, ids.length));
  expectArrived(walked, requestIds);
});

test('from/to windows of whole seconds that follow each other: every entry once', async () => {
  const { walked, requestIds } = await readWindows(1_000);
  const ids = idsOf(walked).toSorted((one, other) => one - other);
  expect(ids).toEqual(numbers(1, ids.length));
  expect(ids.length).toBeGreaterThan(SAMPLE + ARRIVALS);
  expectArrived(walked, requestIds);
});

test('from/to windows that touch: none missed, and only what lies in a touching second comes twice', async () => {
  const { walked, requestIds, edges } = await readWindows(0);
  const times = new Map<number, Entry[]>();
  for (const entry of walked) times.set(entry.id, [...(times.get(entry.id) ?? []), entry]);
  const ids = [...times.keys()].toSorted((one, other) => one - other);
  expect(ids).toEqual(numbers(1, ids.length));
  expectArrived(
    [...times.values()].flatMap((entries) => entries.slice(0, 1)),
    requestIds,
  );
  const repeated = [...times.values()].filter((entries) => entries.length > 1);
  expect(repeated.length).toBeGreaterThan(0);
  for (const [entry] of repeated) {
    expect(edges).toContain(Date.parse(`${entry?.occurred_at.slice(0, 19)}Z`));
  }
});
