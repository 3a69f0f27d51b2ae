import { grouped, percent, size } from '../wording.ts';
import { counterCheck, type Grown, shareScale } from './counter-check.ts';
import type { Figures } from './figures.ts';
import { type Server, setAtStart, setForGood } from './setting-check.ts';

/** Shares of page reads served from memory, and the minimum of misses; dbvitals' own: 10,000 are 156 MB. */
const thresholds = { info: 0.99, warning: 0.95, minimum_reads: 10_000 };

const REQUESTS = 'Innodb_buffer_pool_read_requests';
const READS = 'Innodb_buffer_pool_reads';
const POOL = 'innodb_buffer_pool_size';

/** InnoDB reads many pages from disk. */
export const bpMiss = counterCheck({
  id: 'MY_BP_MISS',
  title: 'Buffer pool misses',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: [REQUESTS, READS],
  variables: [POOL, `${POOL}_max`],
  measures: (grown, { thresholds: { info, minimum_reads } }) => {
    const judged = { operator: '<=', enough: grown.by(READS) >= minimum_reads, warning: info } as const;
    const value = grown.by(REQUESTS) === 0 ? Number.NaN : found(grown);
    return [{ ...shareScale('cache_hit_ratio', judged), value }];
  },
  fault: (grown, facts) => {
    const { info, warning, minimum_reads } = facts.thresholds;
    const share = found(grown);
    if (grown.by(READS) < minimum_reads || share > info) return null;
    const bytes = grown.now.number(POOL);
    return {
      severity: share <= warning ? 'warning' : 'info',
      metricLine: `${line(grown)}; raise innodb_buffer_pool_size above its ${size(bytes)}, or add indexes.`,
      remediation: enlarge(grown.now, facts, bytes * 2),
    };
  },
  passMessage: (grown) => `${line(grown)}.`,
});

/** Steps: a pool beyond the machine's memory would end the server, and the server does not show that memory. */
function enlarge(settings: Figures, server: Server, bytes: number): string {
  // MariaDB 11.8 keeps a larger value to the maximum that it was started with, with a warning only.
  const most = settings.has(`${POOL}_max`) ? settings.number(`${POOL}_max`) : bytes;
  const set = most < bytes ? setAtStart(server, POOL, bytes) : setForGood(server, POOL, bytes);
  return server.provider
    ? set
    : `SHOW GLOBAL VARIABLES LIKE '${POOL}%'; -- then, only if the machine has ${size(bytes / 2)} of memory to spare: ${set}`;
}

function found({ by }: Grown): number {
  return by(REQUESTS) === 0 ? 1 : 1 - by(READS) / by(REQUESTS);
}

function line(grown: Grown): string {
  return `${percent(found(grown))} of ${grouped(grown.by(REQUESTS))} page reads were served from the buffer pool since the last run`;
}
