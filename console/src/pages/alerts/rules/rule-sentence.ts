import type { NewRule, RulePreview } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { metricWords } from '../../../../../src/platform/text/metric-words.ts';
import { unitOf } from '../../../../../src/vocabulary/units.ts';
import { scopeText } from '../../../parts/connection-choice.tsx';
import { duration } from '../../../parts/time.tsx';
import { alertValue, OPERATORS } from '../alert-text.ts';

/** What a rule compares, as the subject of a sentence. */
function subject({ metric, check_id, measure }: NewRule): string {
  switch (metric) {
    case 'score':
      return 'the score is';
    case 'unreachable_seconds':
      return 'the server has been unreachable for';
    case 'intervals_since_check':
      return 'the time without a health check is';
    case 'findings_critical':
      return `the number of critical findings${ofCheck(check_id)} is`;
    case 'findings_warning':
      return `the number of warnings${ofCheck(check_id)} is`;
    case 'days_left':
      return `the time until ${measure ? lower(metricWords(measure)) : 'a resource'}${ofCheck(check_id)} is full is`;
    case 'blocked_seconds':
      return 'the longest wait for a lock is';
    case 'blocked_sessions':
      return 'the number of sessions that wait for a lock is';
    case 'load_active_sessions':
      return 'the average number of active sessions in a minute is';
    default:
      return `${measure ? lower(metricWords(measure)) : 'the value'}${ofCheck(check_id)} is`;
  }
}

function ofCheck(check_id: string | null): string {
  return check_id ? ` of ${check_id}` : '';
}

function lower(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1);
}

/**
 * What a rule does, such as `Fires when the score is below 50 in 2 checks in a row, on all connections. Clears when
 * it is 55 or above.` Null while its numbers are not entered.
 */
export function ruleSentence(rule: NewRule): string | null {
  const { metric, measure, operator, threshold, clear_threshold, for_seconds, for_runs, connections } = rule;
  if ([threshold, for_seconds, for_runs].some(Number.isNaN) || (metric === 'measure' && measure === null))
    return null;
  const value = (number: number) => alertValue(metric, unitOf(measure ?? ''), number);
  const holds = `Fires when ${subject(rule)} ${OPERATORS[operator]} ${value(threshold)}`;
  const lasts = [
    ...(for_seconds > 0 ? [`for ${duration(for_seconds)}`] : []),
    ...(for_runs > 1 ? [`in ${for_runs} checks in a row`] : []),
  ].join(' and ');
  return `${holds}${lasts && ` ${lasts}`}, on ${scopeText(connections)}. ${clears(clear_threshold ?? threshold)}`;

  function clears(at: number): string {
    if (metric === 'unreachable_seconds') return 'Clears when the server answers again.';
    if (metric === 'intervals_since_check') return 'Clears with the next health check.';
    if (Number.isNaN(at)) return '';
    return `Clears when it is ${CLEARED[operator](value(at))}.`;
  }
}

const CLEARED: Record<NewRule['operator'], (value: string) => string> = {
  '<': (value) => `${value} or above`,
  '>': (value) => `${value} or below`,
  '<=': (value) => `above ${value}`,
  '>=': (value) => `below ${value}`,
};

/** `It would have fired 3 times in the last 7 days.` */
export function firingsText({ times, covered, looked_at }: RulePreview): string {
  if (times === null) return 'What this rule compares is not kept over time, so its past is not known.';
  if (covered === 0) return 'It covers no connection now.';
  const count = times === 1 ? 'once' : `${times.toLocaleString('en')} times`;
  const where =
    looked_at < covered ? `, on the first ${looked_at} of ${covered.toLocaleString('en')} connections` : '';
  return times === 0
    ? `It would not have fired in the last 7 days${where}.`
    : `It would have fired ${count} in the last 7 days${where}.`;
}
