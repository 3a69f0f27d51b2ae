import { expect, test } from 'vitest';
import { toReport } from '../collector/deliver.ts';
import { connectedOutcomes, type Measured, nothingMeasured } from '../nothing-measured.ts';
import { acceptMeasured, type ReportedMeasured } from './accept-measured.ts';

const measure = {
  metric: 'used_ratio',
  object: null,
  value: 0.5,
  operator: null,
  warning: null,
  critical: null,
};
const reading = { kind: 'setting', database: '', digest: 'd' } as const;

function measured(more: Partial<Measured> = {}): Measured {
  return { ...nothingMeasured(connectedOutcomes()), ...more };
}

const TAKEN = new Set(['catalogue', 'leftOut']);

const sent = (one: Measured, takes = TAKEN): ReportedMeasured =>
  JSON.parse(JSON.stringify(toReport(one, takes)));
const accepted = (more: Partial<Measured>) =>
  acceptMeasured('postgres', sent(measured(more)), { queryTexts: true, own: [] });

test('an honest result is the same as that of a child process', () => {
  const whole = measured({
    leftOut: ['closed', 'U&"good\\\\000Aone"'],
    samples: [
      { checkId: 'PG_DEADLOCKS', database: 'shop', after: 0.5, rows: [{ n: 1, name: 'é', at: null }] },
    ],
    measures: [
      { ...measure, checkId: 'PG_CONN_SATURATION', database: '' },
      { ...measure, checkId: '', database: 'shop' },
    ],
    readings: [
      {
        ...reading,
        stored: {
          basis: 'all',
          facts: [
            ['setting', 'work_mem', '4MB', { source: 'file' }],
            ['index', 'a.b', 'x'],
          ],
        },
      },
      { ...reading, kind: 'schema', database: 'shop' },
    ],
    queries: {
      state: 'AAAA',
      grown: [
        {
          query: '-42',
          database: 'shop',
          role: 'bob',
          calls: 1,
          seconds: 2,
          rows: 3,
          read: 4,
          hit: 5,
          temporary: 6,
        },
      ],
      calls: 1,
      seconds: 2,
      texts: [['-42', 'select $1\nfrom a']],
    },
    cost: { milliseconds: 1, statements: 2, bytes: 3 },
    server: { version: 180_004, tls: 'TLSv1.3', provider: null },
  });
  expect(acceptMeasured('postgres', sent(whole), { queryTexts: true, own: [] })).toEqual(whole);
});

test('a service that does not know which databases were left out is not told, and knows of none from an older collector', () => {
  const report = toReport(measured({ leftOut: ['closed'] }), new Set());
  expect(report).not.toHaveProperty('leftOut');
  expect(acceptMeasured('postgres', report, { queryTexts: true, own: [] }).leftOut).toEqual([]);
});

test('checks of another engine and of no engine are left out, with their numbers and samples', () => {
  const [ok] = connectedOutcomes();
  if (!ok) throw new Error('no outcome');
  const other = (id: string) => ({ ...ok, check: { ...ok.check, id } });
  const result = accepted({
    outcomes: [other('MY_TMP_DISK'), other('INVENTED'), other('PG_DEADLOCKS'), other('PG_DEADLOCKS')],
    samples: ['MY_TMP_DISK', 'VITALS_INVENTED'].map((checkId) => ({
      checkId,
      database: '',
      after: 0,
      rows: [],
    })),
    measures: [{ ...measure, checkId: 'INVENTED', database: '' }],
  });
  expect(result.outcomes.map(({ check }) => check.id)).toEqual(['PG_DEADLOCKS']);
  expect([result.samples, result.measures]).toEqual([[], []]);
});

test('a check has its own words and at most its own severity', () => {
  const [ok] = connectedOutcomes();
  const [finding] = ok?.findings ?? [];
  if (!ok || !finding) throw new Error('no finding');
  const lie = {
    ...finding,
    title: 'Pay now',
    category: 'locks' as const,
    status: 'critical' as const,
    severity: 'critical' as const,
  };
  const { outcomes } = accepted({
    outcomes: [{ ...ok, check: { ...ok.check, id: 'PG_TEMP_FILES', title: 'Pay now' }, findings: [lie] }],
  });
  const [outcome] = outcomes;
  expect(outcome?.check).toMatchObject({ id: 'PG_TEMP_FILES', title: expect.not.stringContaining('Pay') });
  expect(outcome?.findings[0]).toMatchObject({ check_id: 'PG_TEMP_FILES', title: outcome?.check.title });
  expect(outcome?.findings[0]?.severity).toBe(outcome?.check.maxSeverity);
  expect(outcome?.findings[0]?.status).toBe(outcome?.check.maxSeverity);
});

test('texts of queries are left out where the connection does not ask for them', () => {
  const queries = {
    state: '',
    grown: [],
    calls: 0,
    seconds: 0,
    texts: [['1', 'select 1']] as [string, string][],
  };
  expect(
    acceptMeasured('postgres', sent(measured({ queries })), { queryTexts: false, own: [] }).queries?.texts,
  ).toEqual([]);
});

test('a result that is too large is sent without the largest readings, and then without queries', () => {
  const large = (bytes: number, kind: 'schema' | 'setting') => ({
    ...reading,
    kind,
    stored: {
      basis: '',
      facts: [[kind === 'schema' ? ('table' as const) : kind, 'a', 'x'.repeat(bytes)] as const],
    },
  });
  const readings = [large(3_000_000, 'schema'), large(2_000_000, 'schema'), large(10, 'setting')];
  expect(toReport(measured({ readings }), TAKEN).readings).toEqual(readings.slice(1));
  const queries = { state: 'A'.repeat(5_000_000), grown: [], calls: 0, seconds: 0, texts: [] };
  expect(toReport(measured({ readings, queries }), TAKEN)).toMatchObject({ readings: [], queries: null });
});

test('the queries on the catalogue are sent only to a service that takes them', () => {
  const queries = { state: '', grown: [], calls: 0, seconds: 0, texts: [], catalogue: ['a1'] };
  expect(sent(measured({ queries })).queries).toEqual(queries);
  expect(accepted({ queries }).queries?.catalogue).toEqual(['a1']);
  const { catalogue: _, ...older } = queries;
  expect(sent(measured({ queries }), new Set()).queries).toEqual(older);
});
