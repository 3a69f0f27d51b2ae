import { expect, test } from 'vitest';
import { fleetStatus } from '../vocabulary/score-bands.ts';
import type { FindingStatus, Severity } from '../vocabulary/severities.ts';
import { type OpenTicket, score, summaryText, worstFirst } from './score.ts';

function outcome(id: string, ...statuses: FindingStatus[]) {
  const measured = statuses.some((status) => status !== 'skipped' && status !== 'error');
  return {
    check: { id, title: `Title of ${id}` },
    findings: statuses.map((status) => ({ status })),
    measured: measured,
    unmeasured: [] as string[],
  };
}

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

function tickets(check_id: string, ...severities: Severity[]): OpenTicket[] {
  return severities.map((severity) => ({ check_id, severity }));
}

test.each([
  ['nothing', [outcome('A', 'ok')], 100],
  ['one critical is never over 49', [outcome('A', 'critical')], 49],
  ['two criticals', [outcome('A', 'critical'), outcome('B', 'critical')], 20],
  ['a further critical object costs 2', [outcome('A', 'critical', 'critical'), outcome('B', 'critical')], 18],
  [
    'a check costs at most 50',
    [outcome('A', ...times(20, 'critical' as const)), outcome('B', 'critical')],
    10,
  ],
  ['never under 0', times(5, 'x').map((_, n) => outcome(`C${n}`, 'critical')), 0],
  ['one warning', [outcome('A', 'warning')], 92],
  ['a further warning object costs 1', [outcome('A', 'warning', 'warning', 'warning')], 90],
  ['a check of warnings costs at most 15', [outcome('A', ...times(30, 'warning' as const))], 85],
  ['all warnings cost at most 45', times(9, 'x').map((_, n) => outcome(`C${n}`, 'warning')), 55],
  ['an info costs 1 a check, not an object', [outcome('A', 'info', 'info', 'info')], 99],
  ['all infos cost at most 5', times(8, 'x').map((_, n) => outcome(`C${n}`, 'info')), 95],
  [
    'the worst without a critical is 50',
    [...times(9, 'warning' as const), ...times(9, 'info' as const)].map((level, n) =>
      outcome(`C${n}`, level),
    ),
    50,
  ],
  ['the worst level of a check counts', [outcome('A', 'warning', 'info', 'info')], 92],
  [
    'a check that could not be measured costs nothing by itself',
    [outcome('A', 'error'), outcome('B', 'skipped')],
    100,
  ],
  ['unreachable', [outcome('CONN_UNREACHABLE', 'critical')], 0],
  ['credentials refused', [outcome('CONN_AUTH_FAILED', 'critical')], 0],
  ['reachable', [outcome('CONN_UNREACHABLE', 'ok'), outcome('A', 'ok')], 100],
])('%s', (_, outcomes, expected) => {
  expect(score(outcomes, [])).toBe(expected);
});

test('a skipped or failed check keeps the penalty of its open tickets', () => {
  expect(score([outcome('A', 'skipped')], tickets('A', 'warning', 'warning'))).toBe(91);
  expect(score([outcome('A', 'error')], tickets('A', 'critical'))).toBe(49);
  expect(score([outcome('A', 'error')], tickets('B', 'critical'))).toBe(100);
  expect(score([outcome('A', 'ok')], tickets('A', 'critical'))).toBe(100);
});

test('a partly measured check costs the worse of its findings and its open tickets', () => {
  const part = { ...outcome('A', 'warning'), unmeasured: ['shop'] };
  expect(score([part], tickets('A', 'critical'))).toBe(49);
  expect(score([part], tickets('A', 'info'))).toBe(92);
});

test('a run says how many checks are incomplete', () => {
  const cut = { ...outcome('A', 'skipped'), incomplete: true } as const;
  const all = [outcome('CONN_CHECKS_INCOMPLETE', 'warning'), outcome('B', 'ok'), cut];
  expect(score(all, [])).toBe(92);
  expect(summaryText(all)).toBe(
    '1 warning: Title of CONN_CHECKS_INCOMPLETE; 1 not measured; 1 incomplete for size or time',
  );
});

test('the fleet status follows from the score', () => {
  expect([100, 80, 79, 50, 49, 0, null].map(fleetStatus)).toEqual([
    'healthy',
    'healthy',
    'warning',
    'warning',
    'critical',
    'critical',
    'never_run',
  ]);
});

test('findings are listed worst first', () => {
  const finding = (check_id: string, status: FindingStatus) => ({
    check_id,
    status,
    category: 'schema' as const,
    title: '',
    metric_line: '',
    remediation: '',
    severity: 'info' as const,
    database: '',
    object: null,
  });
  const findings = (['ok', 'skipped', 'error', 'info', 'warning', 'critical', 'warning'] as const).map(
    (status, n) => finding(String(n), status),
  );
  const sorted = worstFirst([{ findings: findings.slice(0, 4) }, { findings: findings.slice(4) }]);
  expect(sorted.map(({ check_id }) => check_id).join('')).toBe('5463210');
});

test.each([
  [[outcome('A', 'ok'), outcome('B', 'ok')], 'No problem found in 2 checks'],
  [
    [outcome('A', 'ok'), outcome('B', 'skipped'), outcome('C', 'error')],
    'No problem found in 1 check; 2 not measured',
  ],
  [
    [outcome('A', 'info'), outcome('B', 'warning', 'warning'), outcome('C', 'critical'), outcome('D', 'ok')],
    '1 critical, 2 warnings, 1 note: Title of C, Title of B, Title of A',
  ],
  [
    [...'ABCDE'].map((id) => outcome(id, 'critical')),
    '5 criticals: Title of A, Title of B, Title of C and 2 more',
  ],
])('summary %#', (outcomes, expected) => {
  expect(summaryText(outcomes)).toBe(expected);
});
