import { counted, rate, size } from '../wording.ts';
import { counterCheck, perSecond } from './counter-check.ts';
import { isMariaDb } from './flavour.ts';
import { setAtStart, setForGood } from './setting-check.ts';

/** Waits a second, as in the common Prometheus rules for MySQL. */
const thresholds = { warning_per_second: 10 };

/** Transactions had to wait until the full redo log buffer was written. */
export const logWaits = counterCheck({
  id: 'MY_LOG_WAITS',
  title: 'Waits for the redo log buffer',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: ['Innodb_log_waits'],
  variables: ['innodb_log_buffer_size'],
  measures: ({ by, minutes }, { thresholds: { warning_per_second } }) => [
    perSecond(
      'log_buffer_waits_per_second',
      minutes,
      by('Innodb_log_waits'),
      warning_per_second * minutes * 60,
    ),
  ],
  fault: ({ by, minutes, now }, facts) => {
    const { warning_per_second } = facts.thresholds;
    const waits = by('Innodb_log_waits');
    if (waits < warning_per_second * minutes * 60) return null;
    const bytes = now.number('innodb_log_buffer_size');
    return {
      metricLine: `${counted(waits, 'wait')} for the redo log buffer since the last run, ${rate(waits / minutes / 60)}; raise innodb_log_buffer_size above its ${size(bytes)}.`,
      // MariaDB reads it from its option file only.
      remediation: isMariaDb(facts.version)
        ? setAtStart(facts, 'innodb_log_buffer_size', bytes * 2)
        : setForGood(facts, 'innodb_log_buffer_size', bytes * 2),
    };
  },
  passMessage: ({ by }) =>
    `${counted(by('Innodb_log_waits'), 'wait')} for the redo log buffer since the last run.`,
});
