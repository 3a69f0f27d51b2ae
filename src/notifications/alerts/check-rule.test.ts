import { expect, test } from 'vitest';
import { requireRule } from './check-rule.ts';
import { newRule, parseCondition } from './rule-condition.ts';

test.each([
  ['score < 0', 'This rule can never hold: a score is never below 0.'],
  ['score < 101', 'This rule would always hold: a score is never above 100.'],
  ['score > 50', 'score is compared by < or <=.'],
  ['days_left < 0', 'This rule can never hold: the number of days left is never below 0.'],
  ['unreachable_seconds >= 31d', 'The time without an answer must be at most 30 days.'],
  [
    'findings_warning PG_XID_WRAPAROUN >= 1',
    'There is no check PG_XID_WRAPAROUN: did you mean PG_XID_WRAPAROUND?',
  ],
  [
    'PG_CONN_SATURATION.connection_used_ratio > 1',
    'did you mean connections_used_ratio? Known: connections_used_ratio.',
  ],
  ['vital.connection_count > 1', 'There is no vital connection_count: did you mean connections_count?'],
  ['scroe < 50', 'Did you mean score?'],
  ['score < fifty', 'The number of the condition is not a number.'],
  ['score', 'Write what is compared, <, <=, > or >=, and a number'],
  [
    'PG_CONN_SATURATION.connections_used_ratio < 0',
    'This rule can never hold: a measured value is never below 0.',
  ],
  ['findings_critical >= 0', 'This rule would always hold: the number of findings is never below 0.'],
  [
    'findings_critical PG_CHECKPOINTS_REQUESTED >= 1',
    'This rule can never hold: the findings of PG_CHECKPOINTS_REQUESTED are at most',
  ],
  ['intervals_since_check > 1', 'with fewer the rule would hold between any two checks'],
  ['blocked_seconds < 5', 'blocked_seconds is compared by > or >=.'],
  ['blocked_sessions >= 0', 'This rule would always hold: the number of blocked sessions is never below 0.'],
  ['blocked_seconds >= 31d', 'The longest wait for a lock must be at most 30 days.'],
  ['score PG_DEAD_TUPLES < 50', 'score is about the whole server: leave out the check.'],
])('%s is rejected with a sentence', (when, sentence) => {
  expect(() => requireRule(newRule(parseCondition(when)))).toThrow(sentence);
});

test.each([
  [
    { clear_threshold: 40 },
    'The clearing value is on the wrong side: it must be at or above the threshold 50.',
  ],
  [{ clear_threshold: 101 }, 'An alert of this rule could never clear: a score is never above 100.'],
  [{ for_seconds: 31 * 86_400 }, 'must be from 0 seconds to 30 days'],
  [{ for_runs: 0 }, 'must be from 1 to 100'],
  [{ reminder_seconds: 10 }, 'must be from 5m to 30d, or none'],
  [{ name: '' }, 'must be 1 to 200 characters long'],
])('%j is rejected with a sentence', (given, sentence) => {
  expect(() => requireRule(newRule(parseCondition('score < 50'), given))).toThrow(sentence);
});

test.each([
  'score < 50',
  'days_left < 7',
  'unreachable_seconds >= 1',
  'vital.connections_count > 100',
  'blocked_seconds >= 45s',
  'load_active_sessions > 2.5',
])('%s is a rule', (when) => {
  expect(() => requireRule(newRule(parseCondition(when)))).not.toThrow();
});
