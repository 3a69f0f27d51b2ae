import { hash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countValues } from '../../../test/support/rotation.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { serializerOnUse } from '../../http/edge/compile-schemas.ts';
import { openPool } from '../../store/connect.ts';
import { readOnce } from '../../store/exchange/read-once.ts';
import { entries } from './entries.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
});

afterAll(async () => {
  await reader?.end();
  await store?.stop();
});

// What PostgreSQL's text can hold: no NUL, and no half of a character.
const storable = (given: string) => given.toWellFormed().replaceAll('\0', '');
const text = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.string({
      unit: fc.constantFrom(
        '"',
        '\\',
        '/',
        '\b',
        '\f',
        '\n',
        '\r',
        '\t',
        '\u0001',
        '\u001e',
        '\u001f',
        '\u007f',
        '\u2028',
      ),
    }),
  )
  .map(storable);
const maybe = fc.option(text);
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger());
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0),
    number,
    text,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('1', '10', '2', '__proto__')), tie('value'), { maxKeys: 4 }),
  ),
}));
const object = fc.dictionary(text, json, { maxKeys: 5 });
const moment = fc.date({ min: new Date('1970-01-01'), max: new Date('2999-01-01'), noInvalidDate: true });
const entry = fc.record({
  action_type: text,
  page_path: text,
  at: moment,
  micros: fc.nat({ max: 999 }),
  properties: fc.option(object),
  query: fc.option(object),
  request_id: fc.option(fc.uuid()),
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  method: maybe,
  error_code: maybe,
  key: fc.constantFrom('own', 'unknown', null),
  source_ip: fc.option(fc.ipV4()),
  user_agent: maybe,
});

// A request as the gate records it, whose texts may be anything. Pages of these are read as lines.
const usualRequest = fc.record({
  action_type: text,
  page_path: text,
  at: moment,
  micros: fc.nat({ max: 999 }),
  properties: fc.constant(null),
  query: fc.option(object),
  request_id: fc.uuid(),
  status: fc.integer({ min: 100, max: 599 }),
  method: maybe,
  error_code: maybe,
  key: fc.constant('own'),
  source_ip: fc.oneof(fc.ipV4(), fc.ipV6()),
  user_agent: maybe,
});
const page = fc.oneof(
  fc.array(entry, { minLength: 1, maxLength: 8 }),
  fc.array(usualRequest, { minLength: 1, maxLength: 8 }),
);

interface Stored {
  id: number;
  action_type: string;
  page_path: string;
  occurred_at: Date;
  properties: object | null;
  method: string | null;
  status: number | null;
  error_code: string | null;
  query: object | null;
  request_id: string | null;
  api_key_id: number | null;
  api_key_name: string | null;
  source_ip: string | null;
  user_agent: string | null;
}

/** The entry as Node alone forms it of the row's columns. */
function formed(row: Stored) {
  const { method, status, error_code, query, request_id, api_key_id, api_key_name, source_ip, user_agent } =
    row;
  return {
    id: row.id,
    action_type: row.action_type,
    page_path: row.page_path,
    properties: row.properties ?? {
      method,
      status,
      error_code,
      query: query ?? {},
      request_id,
      api_key_id,
      api_key_name,
      source_ip,
      user_agent,
    },
    occurred_at: row.occurred_at.toISOString(),
  };
}

test('a page is byte for byte what Node would write of the rows, whatever they contain', async () => {
  const serialize = serializerOnUse(entries.response);
  await fc.assert(
    fc.asyncProperty(page, text, async (given, name) => {
      const accountId = await store.account();
      const { rows: keys } = await store.writer.query<{ api_key_id: number }>(
        `insert into api_key (account_id, name, hash, last_four, created_at)
         values ($1, $2, $3, 'last', now()) returning api_key_id`,
        [accountId, `key ${name}`, hash('sha256', String(accountId), 'buffer')],
      );
      const rows = given.map(({ at, micros, key, ...rest }, n) => ({
        ...rest,
        id: n + 1,
        at: `${at.toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`,
        api_key_id: key === 'own' ? keys[0]?.api_key_id : key === 'unknown' ? 9_007_199_254_740_991 : null,
      }));
      await store.writer.query(
        `insert into activity (account_id, id, occurred_at, action_type, page_path, properties, query, request_id,
                               api_key_id, status, method, error_code, source_ip, user_agent)
         select $1, id, at, action_type, page_path, nullif(properties, 'null'), nullif(query, 'null'), request_id,
                api_key_id, status, method, error_code, source_ip, user_agent
           from jsonb_to_recordset($2) as r (id bigint, at timestamptz, action_type text, page_path text, properties jsonb,
                query jsonb, request_id uuid, api_key_id bigint, status smallint, method text, error_code text,
                source_ip inet, user_agent text)`,
        [accountId, JSON.stringify(rows)],
      );
      await store.writer.query(
        'update activity_head set last_id = $2, last_at = now() where account_id = $1',
        [accountId, rows.length],
      );
      const stored = await store.writer.query<Stored>(
        `select e.*, host(source_ip) as source_ip,
                (select name from api_key k where k.account_id = $1 and k.api_key_id = e.api_key_id) as api_key_name
           from activity e where account_id = $1 order by id`,
        [accountId],
      );
      const request = {
        accountId,
        query: { order: 'asc', per_page: 100 },
        id: '',
        url: 'http://a/api/v1/activity',
      };
      const { result } = await readOnce(
        reader,
        accountId,
        async (read) => entries.write?.(read, request),
        false,
      );
      const meta = { total: rows.length, page: 1, per_page: 100, has_more: false };
      expect(result?.json).toBe(serialize({ data: stored.rows.map(formed), meta }));
    }),
    { numRuns: countValues(300) },
  );
});

test('a text that forges the line of another entry is a text', async () => {
  const accountId = await store.account();
  const forged = ['x', ['entry', 9, '2020-01-01 00:00:00+00', '{}', 'forged', '/'].join('\u001f')].join(
    '\u001e',
  );
  await store.writer.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, properties)
     values ($1, 1, now(), 'account_created', $2, '{}')`,
    [accountId, forged],
  );
  await store.writer.query('update activity_head set last_id = 1, last_at = now() where account_id = $1', [
    accountId,
  ]);
  const request = { accountId, query: { order: 'asc' }, id: '', url: 'http://a/api/v1/activity' };
  const { result } = await readOnce(reader, accountId, (read) => entries.answer(read, request), false);
  expect(result.body.data).toMatchObject([{ id: 1, action_type: 'account_created', page_path: forged }]);
});
