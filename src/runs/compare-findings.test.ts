import { expect, test } from 'vitest';
import type { Finding } from '../checks/check.ts';
import { silenceOutcomes } from '../tickets/silences/run-silences.ts';
import { SEVERITIES, type Severity } from '../vocabulary/severities.ts';
import { compareFindings } from './compare-findings.ts';

const about = {
  category: 'schema',
  title: 'Test',
  metric_line: 'line',
  remediation: '',
  database: 'shop',
} as const;

const measured = { metric: 'dead_rows_ratio', value: 0.5, operator: '>=', threshold: 0.2 } as const;

function fault(object: string, severity: Severity = 'warning', check_id = 'PG_TEST'): Finding {
  return { ...about, check_id, status: severity, severity, object };
}

/** The one finding of a check without a fault. */
function quiet(status: 'ok' | 'skipped' | 'error', check_id = 'PG_TEST'): Finding {
  return { ...about, check_id, status, severity: 'critical', database: '', object: null };
}

/** The compared faults by their objects. */
function compared(before: Finding[], after: Finding[]) {
  const { unchanged, ...lists } = compareFindings(before, after);
  const named = Object.entries(lists).map(([name, faults]) => [name, faults.map(({ object }) => object)]);
  return { ...Object.fromEntries(named.filter(([, objects]) => objects?.length)), unchanged };
}

test('faults are new, gone, worse, better or unchanged', () => {
  const before = [fault('gone'), fault('worse', 'info'), fault('better', 'critical'), fault('same')];
  const after = [fault('new'), fault('worse', 'critical'), fault('better', 'info'), fault('same')];
  expect(compared(before, after)).toEqual({
    new: ['new'],
    gone: ['gone'],
    worse: ['worse'],
    better: ['better'],
    unchanged: 1,
  });
  expect(compared(before, [quiet('ok')])).toEqual({
    gone: ['better', 'gone', 'same', 'worse'],
    unchanged: 0,
  });
  expect(compared([quiet('ok')], [])).toEqual({ unchanged: 0 });
});

test('objects of one name in two databases, or of two checks, are two', () => {
  const elsewhere = { ...fault('t'), database: 'other' };
  expect(compared([fault('t')], [elsewhere])).toEqual({ new: ['t'], gone: ['t'], unchanged: 0 });
  const both = [fault('t'), fault('t', 'warning', 'PG_OTHER')];
  expect(compared(both, [fault('t'), quiet('ok', 'PG_OTHER')])).toEqual({ gone: ['t'], unchanged: 1 });
});

test.each(['skipped', 'error'] as const)(
  'a check that is %s in one run neither finds nor loses',
  (status) => {
    expect(compared([fault('t')], [quiet(status)])).toEqual({ unknown: ['t'], unchanged: 0 });
    expect(compared([quiet(status)], [fault('t')])).toEqual({ unknown: ['t'], unchanged: 0 });
  },
);

test('a run that reached no server neither finds nor loses what other checks found', () => {
  const down = { ...fault('t', 'critical', 'CONN_UNREACHABLE'), database: '', object: null };
  expect(compared([fault('t'), quiet('ok', 'CONN_UNREACHABLE')], [down])).toEqual({
    unknown: ['t'],
    new: [null],
    unchanged: 0,
  });
});

test('a silenced fault keeps its number and is unknown; the others of its check are not', () => {
  const check = {
    id: 'PG_TEST',
    category: 'schema',
    title: 'Test',
    volatile: false,
    maxSeverity: 'critical',
  } as const;
  const silence = {
    check_id: 'PG_TEST',
    object: 't',
    reason: 'accepted_risk',
    note: 'n',
    ends_at: null,
  } as const;
  const silenced = silenceOutcomes(
    [{ check, findings: [{ ...fault('t'), measured }], measured: true, unmeasured: [], near: [] }],
    [silence],
  ).flatMap(({ findings }) => findings);
  expect(silenced[0]?.measured).toEqual(measured);
  expect(compared([fault('t'), fault('u')], silenced)).toEqual({ unknown: ['t'], gone: ['u'], unchanged: 0 });
  expect(compared(silenced, [fault('t'), fault('u')])).toEqual({ unknown: ['t'], new: ['u'], unchanged: 0 });
});

test('each list is worst first and shows both runs', () => {
  const after = [
    ...SEVERITIES.toReversed().map((severity) => fault(severity, severity)),
    { ...fault('t'), measured },
  ];
  const { new: found, worse } = compareFindings([quiet('ok'), fault('t', 'info')], after);
  expect(found.map(({ object }) => object)).toEqual(SEVERITIES);
  expect(worse[0]).toEqual({
    check_id: 'PG_TEST',
    category: 'schema',
    title: 'Test',
    database: 'shop',
    object: 't',
    before: { severity: 'info', metric_line: 'line', measured: null },
    after: { severity: 'warning', metric_line: 'line', measured },
  });
});
