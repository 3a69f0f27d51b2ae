import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillAccount, makeKey, makeKeylessAccount } from './account.ts';
import { byRequestId, readLog } from './activity-log.ts';
import { ask, read } from './ask.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Connection, List } from './records.ts';

// Every answer is held to the envelope and its headers by ask(); here only what may be answered is added.
const RUNS = 120;

const filled = fill();

async function fill(): Promise<{ key: string; connection: number }> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 3, tickets: 40, activity: 200, days: 5 });
  const { key } = await makeKey(id, 'suite');
  const { data } = await read<List<Connection>>('/api/v1/health/connections', key);
  return { key, connection: data[0]?.id ?? 0 };
}

const twoDigits = (min: number, max: number) =>
  fc.integer({ min, max }).map((number) => String(number).padStart(2, '0'));

const date = fc
  .tuple(fc.integer({ min: 0, max: 10_100 }), twoDigits(0, 13), twoDigits(0, 32))
  .map(([year, month, day]) => `${String(year).padStart(4, '0')}-${month}-${day}`);

const instant = fc
  .tuple(
    date,
    twoDigits(0, 25),
    twoDigits(0, 61),
    twoDigits(0, 61),
    fc.option(fc.stringMatching(/^\d{0,10}$/), { nil: undefined }),
    fc.oneof(
      fc.constantFrom('', 'Z', 'z', '+02:00', '-14:00', ' 05:30', '+15:00', '+0200'),
      fc.string({ maxLength: 4 }),
    ),
  )
  .map(([day, hour, minute, second, fraction, offset]) =>
    [`${day}T${hour}:${minute}:${second}`, fraction === undefined ? '' : `.${fraction}`, offset].join(''),
  );

const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.integer().map(String),
  fc.bigInt().map(String),
  fc.double().map(String),
  fc.constantFrom(
    'open',
    'resolved',
    'critical',
    'warning',
    'info',
    'asc',
    'desc',
    'api_request',
    '0',
    '1',
    '100',
    '101',
  ),
  fc.constantFrom(
    "' or 1=1--",
    '1;select pg_sleep(9)',
    '$1',
    '\\',
    '\u0000',
    '%',
    '9223372036854775808',
    '1e400',
  ),
  date,
  instant,
);

const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('page', 'per_page', 'status', 'severity', 'connection_id', 'from', 'to'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom('action_type', 'order', 'after_id', '_', '_x', '__proto__', 'constructor'),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom('metric', 'database', 'object', 'step', 'tag', 'after', 'include'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 10 }) },
);

// Lone surrogates have no percent-encoding of their own; they travel as the bytes that UTF-8 forbids.
function percentEncode(text: string): string {
  return [...text]
    .map((character) => (character.isWellFormed() ? encodeURIComponent(character) : '%ED%A0%80'))
    .join('');
}

const query = fc
  .array(fc.tuple(name, value), { minLength: 1, maxLength: 5 })
  .map((pairs) => pairs.map(([key, text]) => `${percentEncode(key)}=${percentEncode(text)}`).join('&'));

test.each(ENDPOINTS)('any query of %s is answered with 200, 400 or 404', async (path) => {
  const { key, connection } = await filled;
  const target = path.replace('/1/', `/${connection}/`);
  await fc.assert(
    fc.asyncProperty(query, async (search) => {
      const { status } = await ask(`${target}?${search}`, { key });
      expect([200, 400, 404], `${target}?${search}`).toContain(status);
    }),
    { numRuns: RUNS },
  );
});

test('any query string of raw bytes is answered and recorded', async () => {
  const { key } = await filled;
  const raw = fc.stringMatching(/^[!-~]{0,60}$/).filter((text) => !text.includes('#'));
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...ENDPOINTS), raw, async (path, search) => {
      const answer = await ask(`${path}?${search}`, { key });
      expect([200, 400, 404], `${path}?${search}`).toContain(answer.status);
    }),
    { numRuns: RUNS },
  );
});

test('any path is answered with 400 or 404 unless it is an endpoint, and recorded', async () => {
  const { key } = await filled;
  const start = (await readLog(key)).length;
  const segment = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }).map(percentEncode),
    fc.stringMatching(/^(%[0-9A-Fa-f]{2}){1,6}$/),
    fc.stringMatching(/^[!"$-.0-~]{0,12}$/),
  );
  const ids: unknown[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('/api/v1/', '/api/v1/health/connections/', '/api/v0'),
      segment,
      async (base, last) => {
        const answer = await ask(`${base}${last}`, { key });
        expect([200, 400, 404], `${base}${last}`).toContain(answer.status);
        ids.push(answer.headers['x-request-id']);
      },
    ),
    { numRuns: RUNS },
  );
  const requests = byRequestId(await readLog(key, start));
  expect(ids.filter((id) => !requests.has(id))).toEqual([]);
});

test('any header value is answered with 200 or 304, and recorded', async () => {
  const { key } = await filled;
  const start = (await readLog(key)).length;
  const header = fc.stringMatching(/^[\t -~\u0080-\u00ff]{0,40}$/).map((text) => text.trim());
  const ids: unknown[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        'user-agent': header,
        accept: header,
        'accept-encoding': header,
        'if-none-match': header,
        'x-forwarded-for': header,
        origin: header,
        'x-request-id': header,
        'content-type': header,
      }),
      async (headers) => {
        const answer = await ask('/api/v1/health/fleet', { key, headers });
        expect([200, 304]).toContain(answer.status);
        ids.push(answer.headers['x-request-id']);
      },
    ),
    { numRuns: RUNS },
  );
  const requests = byRequestId(await readLog(key, start));
  expect(ids.filter((id) => !requests.has(id))).toEqual([]);
});

test('every date that exists is taken, and every one that does not is refused', async () => {
  const { key } = await filled;
  await fc.assert(
    fc.asyncProperty(date, async (text) => {
      const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
      const time = new Date(Date.UTC(2000, month - 1, day));
      time.setUTCFullYear(year, month - 1, day);
      const exists =
        text.length === 10 &&
        year >= 1 &&
        time.getUTCFullYear() === year &&
        time.getUTCMonth() === month - 1 &&
        time.getUTCDate() === day;
      const { status } = await ask(`/api/v1/ops/tickets?from=${text}`, { key });
      expect(status, text).toBe(exists ? 200 : 400);
    }),
    { numRuns: RUNS },
  );
});
