import { counted, grouped, percent } from '../wording.ts';
import { counterCheck, type Grown, perSecond, shareScale } from './counter-check.ts';
import { setForGood } from './setting-check.ts';

/** Share of table opens that hit the cache, as in MySQLTuner, and the minimum of misses a minute (dbvitals' own). */
const thresholds = { warning: 0.2, minimum_per_minute: 1_000 };

// A run opens each table for some checks, so the rate covers at least this time.
const LEAST_MINUTES = 10;

const HITS = 'Table_open_cache_hits';
const MISSES = 'Table_open_cache_misses';

/** The cache of open tables is too small. */
export const tableCache = counterCheck({
  id: 'MY_TABLE_CACHE',
  title: 'Table cache too small',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: [HITS, MISSES, 'Table_open_cache_overflows'],
  variables: ['table_open_cache'],
  measures: (grown, { thresholds: { warning, minimum_per_minute } }) => {
    const { by, minutes } = grown;
    const least = minimum_per_minute * Math.max(minutes, LEAST_MINUTES);
    const enough = by(MISSES) >= least && by('Table_open_cache_overflows') > 0;
    const value = by(HITS) + by(MISSES) === 0 ? Number.NaN : share(grown);
    return [
      { ...shareScale('table_cache_hit_ratio', { operator: '<=', enough, warning }), value },
      perSecond('table_cache_misses_per_second', minutes, by(MISSES)),
    ];
  },
  fault: (grown, facts) => {
    const { warning, minimum_per_minute } = facts.thresholds;
    const { by, minutes, now } = grown;
    if (by(MISSES) < minimum_per_minute * Math.max(minutes, LEAST_MINUTES)) return null;
    // If nothing was evicted, the cache is large enough: the tables were new to it.
    if (share(grown) > warning || by('Table_open_cache_overflows') === 0) return null;
    const places = now.number('table_open_cache');
    return {
      metricLine: `${line(grown)}; raise table_open_cache above its ${grouped(places)}.`,
      remediation: setForGood(facts, 'table_open_cache', places * 2),
    };
  },
  passMessage: (grown) => `${line(grown)}.`,
});

function share({ by }: Grown): number {
  const all = by(HITS) + by(MISSES);
  return all === 0 ? 1 : by(HITS) / all;
}

function line(grown: Grown): string {
  return `${percent(share(grown))} of ${counted(grown.by(HITS) + grown.by(MISSES), 'table open')} hit the table cache since the last run`;
}
