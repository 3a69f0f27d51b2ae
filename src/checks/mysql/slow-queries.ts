import { counted, grouped, percent } from '../wording.ts';
import { counterCheck, shareScale } from './counter-check.ts';
import { setForGood } from './setting-check.ts';

/** Share of statements, as in MySQLTuner, and the minimum of slow ones. */
const thresholds = { warning: 0.05, minimum_slow: 10 };

/** Statements that take longer than long_query_time. */
export const slowQueries = counterCheck({
  id: 'MY_SLOW_QUERIES',
  title: 'Many slow queries',
  category: 'performance',
  severity: 'warning',
  thresholds,
  counters: ['Slow_queries', 'Questions'],
  variables: ['long_query_time'],
  measures: ({ by }, { thresholds: { warning, minimum_slow } }) => {
    const slow = by('Slow_queries');
    const judged = { operator: '>=', enough: slow >= minimum_slow, warning } as const;
    return [{ ...shareScale('slow_queries_ratio', judged), value: slow / by('Questions') }];
  },
  fault: ({ by, now }, facts) => {
    const { warning, minimum_slow } = facts.thresholds;
    const [slow, all] = [by('Slow_queries'), by('Questions')];
    if (slow < minimum_slow || slow / all < warning) return null;
    return {
      metricLine: `${grouped(slow)} of ${counted(all, 'statement')} were slow since the last run (${percent(slow / all)} took over ${now.number('long_query_time')} s, or count as slow by the server's settings); turn on the slow query log.`,
      remediation: setForGood(facts.version, 'slow_query_log', 'ON'),
    };
  },
  passMessage: ({ by }) =>
    `${grouped(by('Slow_queries'))} of ${counted(by('Questions'), 'statement')} were slow since the last run.`,
});
