import { counted, rate } from '../wording.ts';
import { counterCheck, perSecond } from './counter-check.ts';
import { setForGood } from './setting-check.ts';

/** Waits since the last run: none is normal, as the manuals of both say. */
const thresholds = { warning_waits: 1 };

/** Sessions had to wait until a buffer pool page was written to disk and free. */
export const bpWaitFree = counterCheck({
  id: 'MY_BP_WAIT_FREE',
  title: 'Waits for a free buffer pool page',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: ['Innodb_buffer_pool_wait_free'],
  variables: ['innodb_io_capacity', 'innodb_io_capacity_max'],
  measures: ({ by, minutes }, { thresholds: { warning_waits } }) => [
    perSecond('buffer_pool_waits_per_second', minutes, by('Innodb_buffer_pool_wait_free'), warning_waits),
  ],
  fault: ({ by, minutes, now }, facts) => {
    const { warning_waits } = facts.thresholds;
    const waits = by('Innodb_buffer_pool_wait_free');
    if (waits < warning_waits) return null;
    const [capacity, most] = [now.number('innodb_io_capacity'), now.number('innodb_io_capacity_max')];
    return {
      metricLine: `${counted(waits, 'wait')} for a free buffer pool page since the last run, ${rate(waits / minutes / 60)}; raise innodb_io_capacity, or enlarge the buffer pool.`,
      remediation:
        capacity < most
          ? setForGood(facts, 'innodb_io_capacity', Math.min(capacity * 2, most))
          : setForGood(facts, 'innodb_io_capacity_max', most * 2),
    };
  },
  passMessage: ({ by }) =>
    `${counted(by('Innodb_buffer_pool_wait_free'), 'wait')} for a free buffer pool page since the last run.`,
});
