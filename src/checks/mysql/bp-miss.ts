import { grouped, percent, size } from '../wording.ts';
import { counterCheck, type Grown, shareScale } from './counter-check.ts';
import { setForGood } from './setting-check.ts';

/** Shares of page reads served from memory, and the minimum of misses; dbvitals' own: 10,000 are 156 MB. */
const thresholds = { info: 0.99, warning: 0.95, minimum_reads: 10_000 };

const REQUESTS = 'Innodb_buffer_pool_read_requests';
const READS = 'Innodb_buffer_pool_reads';

/** InnoDB reads many pages from disk. */
export const bpMiss = counterCheck({
  id: 'MY_BP_MISS',
  title: 'Buffer pool misses',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: [REQUESTS, READS],
  variables: ['innodb_buffer_pool_size'],
  measures: (grown, { thresholds: { info, minimum_reads } }) => {
    const judged = { operator: '<=', enough: grown.by(READS) >= minimum_reads, warning: info } as const;
    const value = grown.by(REQUESTS) === 0 ? Number.NaN : found(grown);
    return [{ ...shareScale('cache_hit_ratio', judged), value }];
  },
  fault: (grown, facts) => {
    const { info, warning, minimum_reads } = facts.thresholds;
    const share = found(grown);
    if (grown.by(READS) < minimum_reads || share > info) return null;
    const bytes = grown.now.number('innodb_buffer_pool_size');
    return {
      severity: share <= warning ? 'warning' : 'info',
      metricLine: `${line(grown)}; raise innodb_buffer_pool_size above its ${size(bytes)}, or add indexes.`,
      remediation: setForGood(facts.version, 'innodb_buffer_pool_size', bytes * 2),
    };
  },
  passMessage: (grown) => `${line(grown)}.`,
});

function found({ by }: Grown): number {
  return by(REQUESTS) === 0 ? 1 : 1 - by(READS) / by(REQUESTS);
}

function line(grown: Grown): string {
  return `${percent(found(grown))} of ${grouped(grown.by(REQUESTS))} page reads were served from the buffer pool since the last run`;
}
