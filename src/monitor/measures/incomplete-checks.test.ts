import { expect, test } from 'vitest';
import { CONN_CHECKS_INCOMPLETE } from '../../checks/connection-findings.ts';
import { postgresChecks } from '../../checks/postgres/postgres-checks.ts';
import { outcomeOf, type Sample } from '../outcome.ts';
import { failedSample } from './failed-sample.ts';
import { incompleteChecks } from './incomplete-checks.ts';
import { missingPrivileges } from './missing-privileges.ts';

const [check] = postgresChecks;
if (!check) throw new Error('There is no check.');
const place = check;

const measured: Sample = {
  database: 'shop',
  judgement: { faults: [], measures: [], passMessage: 'Fine.' },
};
const large: Sample = { database: 'shop', judgement: { skipped: 'Too many.', skippedForSize: true } };
const slow: Sample = { database: '', failed: 'It took long.', status: 'error', outOfTime: true };
const broken: Sample = { database: '', failed: 'It broke.', status: 'error' };

function found(...samples: Sample[]) {
  const all = samples.map((sample, place) => {
    const check = postgresChecks[place];
    if (!check) throw new Error('There are not so many checks.');
    return { check, samples: [sample] };
  });
  const { findings, measured } = incompleteChecks(all);
  return { ...findings[0], measured };
}

test('checks that were cut short by size or time are one warning', () => {
  expect(found(measured, large, slow, broken)).toMatchObject({
    check_id: 'CONN_CHECKS_INCOMPLETE',
    status: 'warning',
    object: null,
    measured: true,
    metric_line:
      'There are too many objects for 1 check (PG_IDLE_IN_TXN) in shop. The time was too short for 1 check (PG_LONG_QUERY). 1 check (PG_BLOCKED_SESSIONS) failed.',
  });
});

test('a database is named in quotes if it is not one word, whatever names it', () => {
  const named = (database: string) => [
    { ...large, database },
    { ...slow, database },
    failedSample(place, { database, version: 180_000 }, new Error('no')),
    { database, judgement: { skipped: 'No.', grant: 'GRANT pg_monitor TO watcher;' } },
  ];
  for (const name of ['x; \\! touch f', 'x" \\! touch f', 'a b', "x' touch", '$(touch)', 'x\n\\! touch']) {
    const samples = named(name);
    const { metric_line = '', remediation = '' } = found(...samples);
    const [denied] = missingPrivileges(
      CONN_CHECKS_INCOMPLETE,
      samples.map((sample) => ({ check: place, samples: [sample] })),
    ).findings;
    const [unseen] = outcomeOf(place, [...samples, ...named('other')]).findings;
    for (const text of [metric_line, remediation, denied?.metric_line ?? '', unseen?.metric_line ?? ''])
      expect(text.replace(/"(?:[^"]|"")*"/g, '')).not.toMatch(/touch|a b/);
    expect(metric_line).toContain('"');
  }
});

test('a long list of checks is cut, with a count', () => {
  const { metric_line = '' } = found(...Array.from({ length: 20 }, () => large));
  expect(metric_line).toMatch(/^There are too many objects for 20 checks \(.* and 14 more\) in shop\.$/);
  expect(metric_line.length).toBeLessThan(500);
});

test('a check that failed is counted, as a note', () => {
  expect(found(measured, broken)).toMatchObject({
    status: 'info',
    measured: true,
    metric_line: expect.stringMatching(/^1 check .* failed\.$/),
  });
});

test('a run without such a check is fine, and one in which nothing ran is not', () => {
  expect(found(measured)).toMatchObject({ status: 'ok', measured: true });
  expect(found(broken)).toMatchObject({ status: 'error', measured: false });
});

test('an outcome says whether it is incomplete', () => {
  const [check] = postgresChecks;
  if (!check) throw new Error('There is a check.');
  expect(outcomeOf(check, [measured, large]).incomplete).toBe(true);
  expect(outcomeOf(check, [broken])).not.toHaveProperty('incomplete');
});
