import { numberIn, textIn } from '../columns.ts';
import { grouped, percent, size } from '../wording.ts';
import { atMost } from '../worst-measures.ts';
import { alterSystem, PAGE } from './alter-system.ts';
import { countedFrom, counterCheck, total } from './counter-check.ts';

/** Share of block reads served from memory, and the minimum of misses; dbvitals' own: 10,000 blocks are 78 MB. */
const thresholds = { info: 0.95, minimum_reads: 10_000 };

const sql = `
  select quote_ident(datname) as object,
         blks_hit::float8 as hits,
         blks_read::float8 as reads,
         (select b.setting::float8 * p.setting::float8
            from pg_settings b, pg_settings p
           where b.name = 'shared_buffers' and p.name = 'block_size') as buffers,
         ${countedFrom}
    from pg_stat_database
   where datid <> 0
   order by datname`;

/** Databases that read many blocks from outside shared_buffers. */
export const cacheHitLow = counterCheck({
  id: 'PG_CACHE_HIT_LOW',
  title: 'Low cache hit ratio',
  category: 'performance',
  maxSeverity: 'info',
  thresholds,
  sql: () => sql,
  counters: ['hits', 'reads'],
  measure: (grown, _minutes, { thresholds: { info, minimum_reads } }) => {
    const [hits, reads] = [numberIn(grown, 'hits'), numberIn(grown, 'reads')];
    if (hits + reads < Math.max(1, minimum_reads)) return null;
    return {
      ...atMost('cache_hit_ratio', info),
      object: textIn(grown, 'object'),
      value: hits / (hits + reads),
    };
  },
  fault: (grown, _minutes, facts) => {
    const { info, minimum_reads } = facts.thresholds;
    const database = textIn(grown, 'object');
    const [hits, reads] = [numberIn(grown, 'hits'), numberIn(grown, 'reads')];
    const share = hits / (hits + reads);
    if (reads < minimum_reads || share >= info) return null;
    const buffers = numberIn(grown, 'buffers');
    return {
      severity: 'info',
      object: database,
      metricLine: `Database ${database}: ${percent(share)} of ${grouped(hits + reads)} blocks came from shared_buffers since the last run; raise shared_buffers above its ${size(buffers)}, or add indexes.`,
      remediation: alterSystem(facts, {
        name: 'shared_buffers',
        value: Math.ceil(buffers / PAGE) * 2,
        literal: `'${Math.ceil(buffers / 512 / 1024)}MB'`,
        restart: true,
        note: 'the new value is at most a quarter of the memory',
        look: 'SHOW shared_buffers;',
      }),
    };
  },
  passMessage: (grown) => {
    const [hits, reads] = [total(grown, 'hits'), total(grown, 'reads')];
    return `${percent(hits + reads === 0 ? 1 : hits / (hits + reads))} of ${grouped(hits + reads)} blocks came from shared_buffers since the last run.`;
  },
});
