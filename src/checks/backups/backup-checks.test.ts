import { expect, test } from 'vitest';
import { BACKUP_SHRANK, type BackupFacts, judgeAge, judgeSize } from './backup-checks.ts';

const HOUR = 3_600;
const facts: BackupFacts = {
  expectedSeconds: 26 * HOUR,
  expectedFor: 90 * 24 * HOUR,
  age: 6 * HOUR,
  failedAge: null,
  bytes: 40e9,
  bytesBefore: 40e9,
};
const severities = (changed: Partial<BackupFacts>) =>
  judgeAge({ ...facts, ...changed }).faults.map(({ severity }) => severity);
const sized = (bytes: number | null, bytesBefore: number | null, warning?: number) => {
  const limits = { ...BACKUP_SHRANK.thresholds, ...(warning !== undefined && { warning }) };
  const judged = judgeSize({ ...facts, bytes, bytesBefore }, limits);
  return 'skipped' in judged ? 'skipped' : judged.faults.map(({ severity }) => severity);
};

test.each<[string, Partial<BackupFacts>, string[]]>([
  ['within the time', { age: 26 * HOUR - 1 }, []],
  ['at its end', { age: 26 * HOUR }, ['critical']],
  ['none is expected', { expectedSeconds: 0, age: 1e9 }, []],
  ['never one, and just expected', { age: null, expectedFor: HOUR }, []],
  ['never one in all the time', { age: null, expectedFor: 26 * HOUR }, ['critical']],
  ['a failure after the success', { failedAge: HOUR }, ['warning']],
  ['a failure before the success', { failedAge: 7 * HOUR }, []],
  ['only failures, just expected', { age: null, expectedFor: HOUR, failedAge: 60 }, ['warning']],
  ['overdue and failed', { age: 30 * HOUR, failedAge: HOUR }, ['critical']],
  ['a failure, but none is expected', { expectedSeconds: 0, failedAge: HOUR }, []],
])('the age of the last backup: %s', (_, changed, expected) => {
  expect(severities(changed)).toEqual(expected);
});

test('the finding says how old the backup is, what is expected, and that the last attempt failed', () => {
  const { faults, measures } = judgeAge({ ...facts, age: 30 * HOUR, failedAge: 4 * HOUR });
  expect(faults[0]?.metricLine).toBe(
    'The last backup succeeded 1 d 6 h ago, and one is expected within 1 d 2 h. The last attempt failed 4 h 0 min ago.',
  );
  expect(faults[0]?.measured).toEqual({
    metric: 'backup_age_seconds',
    value: 30 * HOUR,
    operator: '>=',
    threshold: 26 * HOUR,
  });
  expect(measures).toEqual([
    {
      metric: 'backup_age_seconds',
      object: null,
      value: 30 * HOUR,
      operator: '>=',
      warning: null,
      critical: 26 * HOUR,
    },
  ]);
});

test('a backup that has at most half the size of the one before is a warning', () => {
  expect(sized(20e9, 40e9)).toEqual(['warning']);
  expect(sized(20e9 + 1, 40e9)).toEqual([]);
  expect(sized(0, 40e9)).toEqual(['warning']);
  expect(sized(36e9, 40e9, 0.9)).toEqual(['warning']);
  expect(sized(80e9, 40e9)).toEqual([]);
  expect(sized(40e9, null)).toEqual([]);
  expect(sized(null, null)).toBe('skipped');
});
