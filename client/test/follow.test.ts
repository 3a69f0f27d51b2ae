import { expect, test } from 'vitest';
import { type ActivityEntry, createClient } from '../src/index.ts';
import { answering } from './answering.ts';

/** A service whose log has these entries, and what it answers instead, request by request, while there is something. */
async function logOf(ids: number[], instead: ([number, string, string] | 'nothing')[] = []) {
  const { origin, asked } = await answering(({ url = '' }, response) => {
    const [status, type, text] = [200, 'application/json', page(new URL(url, 'http://h').searchParams)];
    const other = instead.shift();
    if (other === 'nothing') response.destroy();
    else if (other)
      response.writeHead(other[0], { 'content-type': other[1], 'retry-after': '0' }).end(other[2]);
    else response.writeHead(status, { 'content-type': type }).end(text);
  });
  const page = (query: URLSearchParams) => {
    const after = Number(query.get('after_id') ?? 0);
    const perPage = Number(query.get('per_page'));
    const left = ids.filter((id) => id > after || after === 0);
    const data = left.slice(0, perPage).map((id) => ({
      id,
      action_type: 'api_request',
      page_path: '/',
      properties: {},
      occurred_at: '2026-01-01T00:00:00.000Z',
    }));
    const meta = { total: left.length, page: 1, per_page: perPage, has_more: left.length > perPage };
    return JSON.stringify({ data, meta });
  };
  const dbvitals = createClient({ baseUrl: origin, apiKey: 'key' });
  const { follow } = dbvitals.activity;
  return { asked, follow, entries: (afterId: number) => follow({ afterId, pollSeconds: 0.01 }) };
}

/** Reads `count` ids, or until it fails, which is given as its code. */
async function read(entries: AsyncGenerator<ActivityEntry>, count: number): Promise<(number | string)[]> {
  const seen: (number | string)[] = [];
  try {
    while (seen.length < count) seen.push((await entries.next()).value.id);
  } catch (error) {
    seen.push(error instanceof Error && 'code' in error ? String(error.code) : String(error));
  }
  return seen;
}

test('a log that was cut by age goes on where it begins', async () => {
  const { entries, asked } = await logOf([90, 91, 92]);
  expect(await read(entries(0), 3)).toEqual([90, 91, 92]);
  expect(asked).toHaveLength(2);
  expect(await read(entries(40), 3)).toEqual([90, 91, 92]);
  expect(await read(entries(90), 2)).toEqual([91, 92]);
  expect(asked).toHaveLength(5);
});

test('an entry that is missing is told, not passed over', async () => {
  expect(await read((await logOf([1, 2, 4])).entries(0), 9)).toEqual([1, 2, 'entry_missing']);
  expect(await read((await logOf([1, 2, 4])).entries(2), 9)).toEqual(['entry_missing']);
  expect(await read((await logOf([1, 2, 2])).entries(0), 9)).toEqual([1, 2, 'entry_missing']);
  expect(await read((await logOf([1, 3, 2])).entries(0), 9)).toEqual([1, 'entry_missing']);
  expect(await read((await logOf([1, 2])).entries(0), 9)).toEqual([1, 2, 'entry_missing']);
});

test('what may pass is waited out, however often', async () => {
  const ill: [number, string, string] = [
    500,
    'application/json',
    '{"error":{"code":"internal_error","message":"x"}}',
  ];
  const { entries, asked } = await logOf(
    [1, 2],
    [
      'nothing',
      [200, 'application/json', '{"data":[{"id":1'],
      ...Array.from({ length: 8 }, () => ill),
      [502, 'text/html', '<h1>bad gateway</h1>'],
      [429, 'text/html', '<h1>slow down</h1>'],
    ],
  );
  expect(await read(entries(0), 2)).toEqual([1, 2]);
  expect(asked).toHaveLength(13);
});

test('what will not pass ends it', async () => {
  const refusal = '{"error":{"code":"invalid_api_key","message":"Use a live key."}}';
  const { entries } = await logOf([1, 2], [[401, 'application/json', refusal]]);
  expect(await read(entries(0), 2)).toEqual(['invalid_api_key']);
  const { entries: others } = await logOf([1, 2], [[200, 'text/html', '<h1>log in</h1>']]);
  expect(await read(others(0), 2)).toEqual(['not_dbvitals']);
});

test('a signal stops it at once: within a page, while it waits, and while it is not answered', async () => {
  const hours = { afterId: 0, pollSeconds: 7_200 };
  const stopped = new Error('stopped');
  for (const how of ['in the options', 'as every call takes it']) {
    const end = new AbortController();
    const { follow } = await logOf([1, 2, 3]);
    const { signal } = end;
    const entries = how === 'in the options' ? follow({ ...hours, signal }) : follow(hours, { signal });
    expect(await read(entries, 1)).toEqual([1]);
    end.abort(stopped);
    await expect(entries.next(), how).rejects.toBe(stopped);
    expect(await entries.next()).toEqual({ value: undefined, done: true });
  }

  const waiting = new AbortController();
  const { follow, asked } = await logOf([1]);
  const entries = follow(hours, { signal: waiting.signal });
  expect(await read(entries, 1)).toEqual([1]);
  const next = entries.next();
  setTimeout(() => waiting.abort(stopped), 50);
  await expect(next).rejects.toBe(stopped);
  expect(asked).toHaveLength(1);

  const silent = await answering(() => {});
  const unanswered = new AbortController();
  const { activity } = createClient({ baseUrl: silent.origin, apiKey: 'key' });
  const first = activity.follow(hours, { signal: unanswered.signal }).next();
  setTimeout(() => unanswered.abort(stopped), 50);
  await expect(first).rejects.toBe(stopped);
});
