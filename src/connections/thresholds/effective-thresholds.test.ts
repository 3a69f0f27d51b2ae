import fc from 'fast-check';
import { expect, test } from 'vitest';
import { everyCheck } from '../../checks/catalogue.ts';
import { thresholdFacts } from '../../checks/threshold-facts.ts';
import { effectiveThresholds, factsOf, type Override, thresholdsOfRun } from './effective-thresholds.ts';

const NAMES = [
  ['PG_CONN_SATURATION', 'warning'], // lower is stricter
  ['PG_CACHE_HIT_LOW', 'info'], // higher is
  ['PG_DEAD_TUPLES', 'minimum_rows'],
  ['PG_CHECKSUM_FAILURES', 'stands_hours'],
] as const;
const TAGS = ['env:test', 'env:production', 'team:shop', 'pci', '__proto__', 'é'];

const value = fc.constantFrom(0, 0.5, 1, 7, 1e15);
const override = fc
  .record({ tag: fc.constantFrom('', ...TAGS), at: fc.constantFrom(...NAMES), value })
  .map(({ tag, at: [check_id, name], value }): Override => ({ tag, check_id, name, value }));
const overridesOf = fc.uniqueArray(override, {
  selector: ({ tag, check_id, name }) => `${tag} ${check_id}.${name}`,
  maxLength: 24,
});
const own = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), value), { selector: ([[id]]) => id })
  .map((set) => Object.fromEntries(set.map(([[id, name], value]) => [id, { [name]: value }])));
const tagsOf = fc.uniqueArray(fc.constantFrom(...TAGS));

/** The rule again, threshold by threshold. */
function expected(
  id: string,
  name: string,
  { mine, tags, overrides }: { mine: number | undefined; tags: string[]; overrides: Override[] },
): number | undefined {
  if (mine !== undefined) return mine;
  const named = overrides.filter((one) => one.check_id === id && one.name === name);
  const tagged = named.filter(({ tag }) => tag !== '' && tags.includes(tag)).map(({ value }) => value);
  if (tagged.length > 0)
    return factsOf(id, name)?.stricter === 'higher' ? Math.max(...tagged) : Math.min(...tagged);
  return named.find(({ tag }) => tag === '')?.value;
}

test('connection before tag before account, and of several tags the stricter, in any order', () => {
  fc.assert(
    fc.property(own, tagsOf, overridesOf, fc.nat(), (mine, tags, overrides, turn) => {
      const found = thresholdsOfRun(mine, tags, overrides);
      for (const [id, name] of NAMES) {
        const of = { mine: mine[id]?.[name], tags, overrides };
        expect(found[id]?.[name]).toBe(expected(id, name, of));
      }
      const shift = overrides.length === 0 ? 0 : turn % overrides.length;
      const turned = [...overrides.slice(shift), ...overrides.slice(0, shift)];
      expect(effectiveThresholds(mine, tags.toReversed(), turned)).toEqual(
        effectiveThresholds(mine, tags, overrides),
      );
    }),
    { numRuns: 500 },
  );
});

test('each threshold says where it comes from', () => {
  const of = (check_id: string, name: string, tag: string, value: number) => ({ check_id, name, tag, value });
  const found = effectiveThresholds(
    { PG_DEAD_TUPLES: { warning: 0.9 } },
    ['env:test', 'team:shop'],
    [
      of('PG_CONN_SATURATION', 'warning', '', 0.5),
      of('PG_CONN_SATURATION', 'critical', '', 0.9),
      of('PG_CONN_SATURATION', 'warning', 'env:test', 0.99),
      of('PG_CONN_SATURATION', 'warning', 'team:shop', 0.7),
      of('PG_DEAD_TUPLES', 'warning', 'team:shop', 0.01),
      of('PG_CACHE_HIT_LOW', 'info', 'pci', 1),
    ],
  );
  expect(Object.fromEntries([...found].map(([id, named]) => [id, Object.fromEntries(named)]))).toEqual({
    PG_CONN_SATURATION: {
      warning: { value: 0.7, source: 'tag', tag: 'team:shop' },
      critical: { value: 0.9, source: 'account', tag: '' },
    },
    PG_DEAD_TUPLES: { warning: { value: 0.9, source: 'connection', tag: '' } },
  });
});

test('every level of a check has a metric that the check measures', () => {
  const levels = everyCheck.flatMap((check) => thresholdFacts(check).flatMap(({ level }) => level ?? []));
  expect(levels.length).toBeGreaterThan(60);
  expect(factsOf('PG_SLOW_QUERIES', 'info_ms')?.level).toMatchObject({
    metric: 'query_mean_seconds',
    factor: 0.001,
  });
  expect(factsOf('PG_CACHE_HIT_LOW', 'info')).toMatchObject({ unit: 'ratio', stricter: 'higher' });
  expect(factsOf('PG_DEAD_TUPLES', 'minimum_rows')).toEqual({
    name: 'minimum_rows',
    unit: 'count',
    level: null,
    stricter: 'lower',
  });
});

test('of several tags, the stricter level of an own check counts, whether it rises or falls', () => {
  const overrides = ['pci', 'shop'].flatMap((tag, at) =>
    ['OWN_RISES', 'OWN_FALLS'].map((check_id) => ({
      tag,
      check_id,
      name: 'warning',
      value: [5, 7][at] ?? 0,
    })),
  );
  const own = (id: string, operator: '>=' | '<=') => ({ id, operator, warning: 1, critical: null });
  expect(thresholdsOfRun({}, ['shop', 'pci'], overrides, [own('RISES', '>='), own('FALLS', '<=')])).toEqual({
    OWN_RISES: { warning: 5 },
    OWN_FALLS: { warning: 7 },
  });
});
