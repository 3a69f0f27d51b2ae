import { expect, test } from 'vitest';
import { draftOf, hasNumbers, NEW_RULE, type RuleDraft, ruleOf, withMetric } from './rule-draft.ts';
import { firingsText, ruleSentence } from './rule-sentence.ts';

const sentence = (changed: Partial<RuleDraft>) => ruleSentence(ruleOf({ ...NEW_RULE, ...changed }));
const of = (metric: RuleDraft['metric'], changed: Partial<RuleDraft> = {}) =>
  ruleSentence(ruleOf({ ...withMetric(NEW_RULE, metric), ...changed }));

test('a score', () => {
  expect(sentence({ runs: '2', clear: '55' })).toBe(
    'Fires when the score is below 50 in 2 checks in a row, on all connections. Clears when it is 55 or above.',
  );
});

test('times clear by themselves', () => {
  expect(of('unreachable_seconds')).toBe(
    'Fires when the server has been unreachable for at least 10 min, on all connections. Clears when the server answers again.',
  );
  expect(of('intervals_since_check', { scope: 'names', names: 'prod-*\nshop' })).toBe(
    'Fires when the time without a health check is above 3 intervals, on prod-*, shop. Clears with the next health check.',
  );
});

test('findings and forecasts', () => {
  expect(
    of('findings_critical', { check_id: 'PG_DEAD_TUPLES', minutes: '15', scope: 'ids', ids: [1, 2] }),
  ).toBe(
    'Fires when the number of critical findings of PG_DEAD_TUPLES is at least 1 for 15 min, on 2 chosen connections. Clears when it is below 1.',
  );
  expect(of('days_left')).toBe(
    'Fires when the time until a resource is full is below 14 days, on all connections. Clears when it is 14 days or above.',
  );
});

test('a measured value is entered in a unit that people write', () => {
  const measure = 'PG_CONN_SATURATION connections_used_ratio';
  expect(of('measure', { measure, threshold: '85', operator: '>=' })).toBe(
    'Fires when connections used of PG_CONN_SATURATION is at least 85 %, on all connections. Clears when it is below 85 %.',
  );
  expect(ruleOf({ ...NEW_RULE, metric: 'measure', measure, threshold: '85', clear: '80,5' })).toMatchObject({
    check_id: 'PG_CONN_SATURATION',
    measure: 'connections_used_ratio',
    threshold: 0.85,
    clear_threshold: 0.805,
  });
  expect(
    ruleOf({ ...NEW_RULE, metric: 'measure', measure: ' database_bytes', threshold: '3' }),
  ).toMatchObject({
    check_id: '',
    measure: 'database_bytes',
    threshold: 3_145_728,
  });
});

test('there is no sentence before the numbers', () => {
  expect(sentence({ threshold: '' })).toBeNull();
  expect(sentence({ threshold: 'x' })).toBeNull();
  expect(of('measure', { threshold: '5' })).toBeNull();
});

test.each<[Partial<RuleDraft>, boolean]>([
  [{}, true],
  [{ reminder: '', clear: '' }, true],
  [{ reminder: '1,5' }, true],
  [{ reminder: '12 h' }, false],
  [{ clear: '55 %' }, false],
  [{ threshold: 'x' }, false],
])('whether %j has only numbers: %j', (changed, expected) => {
  expect(hasNumbers({ ...NEW_RULE, ...changed })).toBe(expected);
});

test.each<Partial<RuleDraft>>([
  {},
  { metric: 'unreachable_seconds', operator: '>=', threshold: '2.5' },
  { metric: 'measure', measure: 'PG_CONN_SATURATION connections_used_ratio', threshold: '33', clear: '7' },
  { metric: 'findings_warning', check_id: 'PG_DEAD_TUPLES', operator: '>', threshold: '3', minutes: '90' },
  { destinations: 'chosen', destination_ids: [3], reminder: '', scope: 'ids', ids: [5] },
  { scope: 'names', names: 'a*\nb', is_enabled: false, reminder: '0.5' },
])('the form shows a stored rule as it was entered: %j', (changed) => {
  const draft = { ...NEW_RULE, name: 'x', ...changed };
  const stored = { ...ruleOf(draft), id: 1, preset: null, created_at: '' };
  expect(draftOf(stored)).toEqual(draft);
});

test('how often a rule would have fired', () => {
  const all = { covered: 3, looked_at: 3 };
  expect(firingsText({ ...all, times: 3 })).toBe('It would have fired 3 times in the last 7 days.');
  expect(firingsText({ ...all, times: 1 })).toBe('It would have fired once in the last 7 days.');
  expect(firingsText({ ...all, times: 0 })).toBe('It would not have fired in the last 7 days.');
  expect(firingsText({ ...all, times: null })).toContain('not kept over time');
  expect(firingsText({ times: 2, covered: 1_200, looked_at: 20 })).toBe(
    'It would have fired 2 times in the last 7 days, on the first 20 of 1,200 connections.',
  );
});
