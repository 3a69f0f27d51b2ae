import { counted, grouped } from '../wording.ts';
import { counterCheck, perSecond } from './counter-check.ts';

/** Joins a day, as in MySQLTuner. */
const thresholds = { info_per_day: 250 };

const MINUTES_A_DAY = 24 * 60;

const STATEMENTS =
  'SELECT schema_name, digest_text, sum_select_full_join FROM performance_schema.events_statements_summary_by_digest WHERE sum_select_full_join > 0 ORDER BY sum_select_full_join DESC LIMIT 10; -- give each an index on its join columns';

/** Joins that scan a whole table for each row of another. */
export const joinsNoIndex = counterCheck({
  id: 'MY_JOINS_NO_INDEX',
  title: 'Joins without an index',
  category: 'performance',
  severity: 'info',
  thresholds,
  counters: ['Select_full_join'],
  measures: ({ by, minutes }, { thresholds: { info_per_day } }) => [
    perSecond(
      'joins_without_index_per_second',
      minutes,
      by('Select_full_join'),
      least(info_per_day, minutes),
    ),
  ],
  fault: ({ by, minutes }, facts) => {
    const { info_per_day } = facts.thresholds;
    const joins = by('Select_full_join');
    if (joins < least(info_per_day, minutes)) return null;
    return {
      metricLine: `${counted(joins, 'join')} without an index since the last run, ${grouped((joins / minutes) * 60)} an hour; index the join columns.`,
      remediation: STATEMENTS,
    };
  },
  passMessage: ({ by }) => `${counted(by('Select_full_join'), 'join')} without an index since the last run.`,
});

/** A few joins in five minutes are not a daily rate, and a run causes some itself: a part of a day counts as a day. */
function least(perDay: number, minutes: number): number {
  return perDay * Math.max(1, minutes / MINUTES_A_DAY);
}
