import { expect, test } from 'vitest';
import type { Fault } from '../checks/fault.ts';
import { postgresChecks } from '../checks/postgres/postgres-checks.ts';
import { cleanObject, faultFinding, outcomeOf } from './outcome.ts';

const [check] = postgresChecks;
if (!check) throw new Error('There are checks.');

const found = (fault: Partial<Fault>, database = 'shop') =>
  faultFinding(check, database, {
    severity: 'info',
    object: null,
    metricLine: '',
    remediation: '',
    ...fault,
  });

test('a remediation is never altered', () => {
  for (const remediation of [`DROP INDEX "good  one";`, `-- ${'x'.repeat(3_990)}`])
    expect(found({ remediation }).remediation).toBe(remediation);
});

test('a remediation that cannot be shown as it is becomes a sentence', () => {
  for (const character of [
    '\n',
    '\t',
    '\r',
    '\u0001',
    '\u202e',
    '\u2028',
    '\u00a0',
    '\ufeff',
    '\ufffd',
    '\ud800',
  ])
    expect(found({ remediation: `DROP INDEX "good${character}one";` }).remediation).toMatch(
      /^No statement is shown: [^"]*$/,
    );
  expect(found({ remediation: 'x'.repeat(4_001) }).remediation).toMatch(/^No statement is shown: /);
});

test('names that differ in what does not print stay different', () => {
  const names = [
    '"a b"',
    '"a\nb"',
    '"a\n\nb"',
    '"a\tb"',
    '"a\u202eb"',
    '"ab"',
    '"a\u200bb"',
    'a b',
    ' a b',
    'a b ',
  ];
  expect(new Set(names.map(cleanObject)).size).toBe(names.length);
  expect(cleanObject('public."good one"')).toBe('public."good one"');
  expect(cleanObject('good\none')).toBe(String.raw`U&"good\000Aone"`);
  const longest = `"${'\n'.repeat(63)}"`;
  expect(cleanObject([longest, longest, longest].join('/'))).not.toContain('…');
});

test('a database has one name in findings, and where nothing was measured', () => {
  const database = 'a\nb';
  const outcome = outcomeOf(check, [{ database, failed: 'its time limit was reached', status: 'error' }]);
  expect(outcome.unmeasured).toEqual([found({}, database).database]);
});

test('next to faults one finding names each database where the check failed', () => {
  const fault: Fault = { severity: 'info', object: 'x', metricLine: '', remediation: '' };
  const samples = ['b', 'c', 'd'].map((database) => ({
    database,
    failed: `Database ${database}: Not measured: it is locked.`,
    status: 'error' as const,
  }));
  const judgement = { faults: [fault], passMessage: '', measures: [] };
  const { findings, unmeasured } = outcomeOf(check, [{ database: 'a', judgement }, ...samples]);
  expect(findings).toMatchObject([
    { status: 'info', database: 'a' },
    {
      status: 'error',
      database: '',
      object: null,
      metric_line: 'Database b: Not measured: it is locked. Nor was it measured in c, d.',
    },
  ]);
  expect(unmeasured).toEqual(['b', 'c', 'd']);
});
