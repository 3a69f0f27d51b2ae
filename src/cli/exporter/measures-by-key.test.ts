import { expect, test } from 'vitest';
import { createClient } from '../../../client/src/index.ts';
import { KeyBudget } from './key-budget.ts';
import { MeasuresByKey } from './measures-by-key.ts';
import { writeMeasures } from './write-measures.ts';

const RUN = '2026-01-01T00:00:00.000Z';

interface Answers {
  limit: number;
  remaining: number;
  /** How many values a connection has. */
  values?: number;
  /** When they were measured. */
  at?: string;
}

/** The fleet's values by a client whose requests are answered like this. */
function startReading({ limit, remaining, values = 1, at = RUN }: Answers) {
  const asked: string[] = [];
  const budget = new KeyBudget();
  let left = remaining;
  const dbvitals = createClient({
    baseUrl: 'http://localhost',
    apiKey: 'x',
    retry: false,
    async fetch({ url }) {
      const { pathname, search } = new URL(url);
      asked.push(pathname + search);
      left -= 1;
      const data = Array.from({ length: values }, (_, n) => ({
        id: n + 1,
        metric: 'a_ratio',
        check_id: null,
        database: null,
        object: `${n}`,
        value: 0.5,
        measured_at: at,
      }));
      const headers = {
        'content-type': 'application/json',
        'x-ratelimit-limit': `${limit}`,
        'x-ratelimit-remaining': `${left}`,
        'x-ratelimit-reset': `${Math.ceil(Date.now() / 1_000) + 60}`,
      };
      const response = new Response(JSON.stringify({ data, meta: { has_more: false } }), { headers });
      budget.answered(response.headers);
      return response;
    },
  });
  return { asked, measures: new MeasuresByKey(dbvitals, budget) };
}

const connection = (id: number, measured_at: string | null = RUN, interval: number | null = null) => ({
  id,
  name: `db-${id}`,
  score: null,
  status: 'never_run' as const,
  measured_at,
  interval,
});
const makeFleet = (count: number) => ({ data: Array.from({ length: count }, (_, n) => connection(n + 1)) });
const valuesIn = (text: string) => text.split('\n').filter((line) => line.startsWith('dbvitals_measure{'));

test('a connection is read once for each run, in one request', async () => {
  const { asked, measures } = startReading({ limit: 1_000, remaining: 1_000, at: new Date().toISOString() });
  const now = new Date().toISOString();
  measures.follow({ data: [connection(1), connection(2, null), connection(3)] });
  expect(await measures.readNew()).toBe(true);
  const path = (id: number) => `/api/v1/health/connections/${id}/measures`;
  expect(asked.toSorted()).toEqual([path(1), path(3)]);
  asked.length = 0;
  measures.follow({ data: [connection(1, '2099-01-01T00:00:00.000Z'), connection(2, now)] });
  expect(await measures.readNew()).toBe(true);
  expect(asked.toSorted()).toEqual([path(1), path(2)]);
  expect(
    valuesIn(writeMeasures(measures.latest())).map((line) => /connection_id="(\d)"/.exec(line)?.[1]),
  ).toEqual(['1', '2']);
});

test('a quarter of the limit is left to others', async () => {
  const { asked, measures } = startReading({ limit: 100, remaining: 100 });
  measures.follow(makeFleet(200));
  expect(await measures.readNew()).toBe(false);
  expect(asked.length).toBeGreaterThan(70);
  expect(asked.length).toBeLessThanOrEqual(75);
  expect(await measures.readNew()).toBe(false);
  expect(asked.length).toBeLessThanOrEqual(75);
});

test('values older than three intervals are left out, and their time stays', async () => {
  const at = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  const shown = async (seconds: number, interval: number | null) => {
    const { measures } = startReading({ limit: 100, remaining: 100, at: at(seconds) });
    measures.follow({ data: [connection(1, at(seconds), interval)] });
    await measures.readNew();
    expect(writeMeasures(measures.latest())).toMatch(/^dbvitals_measured_timestamp_seconds\{.+\} \d+/m);
    return valuesIn(writeMeasures(measures.latest())).length;
  };
  expect(await shown(1_700, 600)).toBe(1);
  expect(await shown(1_900, 600)).toBe(0);
  expect(await shown(200, 10)).toBe(1);
  expect(await shown(86_000, null)).toBe(1);
  expect(await shown(87_000, null)).toBe(0);
});

test('values beyond the first 50,000 are counted instead of shown', async () => {
  const { measures } = startReading({
    limit: 1_000,
    remaining: 1_000,
    values: 300,
    at: new Date().toISOString(),
  });
  measures.follow(makeFleet(170));
  await measures.readNew();
  for (let times = 0; times < 2; times += 1) {
    const text = writeMeasures(measures.latest());
    expect(valuesIn(text)).toHaveLength(50_000);
    expect(text).toMatch(/^dbvitals_measures_left_out 1000$/m);
  }
});
