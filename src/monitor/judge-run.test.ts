import { expect, test } from 'vitest';
import type { Finding, Outcome } from '../checks/check.ts';
import type { StandingTicket } from '../tickets/plan-tickets.ts';
import { judgeRun, type RunCase } from './judge-run.ts';

const finding = (object: string): Finding => ({
  check_id: 'PG_BLOCKED_SESSIONS',
  category: 'locks',
  title: 'Blocked sessions',
  status: 'critical',
  metric_line: `${object} waits`,
  remediation: 'fix',
  severity: 'critical',
  database: '',
  object,
});

function outcome(volatile: boolean, ...findings: Finding[]): Outcome {
  const check = {
    id: 'PG_BLOCKED_SESSIONS',
    category: 'locks',
    title: 'Blocked sessions',
    volatile,
  } as const;
  return {
    check: { ...check, maxSeverity: 'critical' },
    findings,
    measured: true,
    unmeasured: [],
    near: [],
  };
}

const ticket: StandingTicket = {
  ...finding('gone'),
  ticket_id: 1,
  status: 'open',
  clean_runs: 0,
  held: false,
};

const silence = {
  check_id: 'PG_BLOCKED_SESSIONS',
  object: 'noise',
  reason: 'accepted_risk',
  note: 'known',
  ends_at: null,
} as const;

const PLAIN: RunCase = {
  outcomes: [outcome(false, finding('new'))],
  previous: [finding('gone')],
  tickets: [],
  silences: [],
  evidence: null,
};

function judge(run: Partial<RunCase>) {
  const { plan, changes, findings, score, unsilencedScore } = judgeRun({ ...PLAIN, ...run });
  return {
    opened: plan.opened.map(({ object }) => object),
    changed: plan.changed.map(({ object, status }) => `${object} ${status}`),
    changes: changes.map(({ subject, before, after }) => `${subject}: ${before} → ${after}`),
    statuses: findings.map(({ status }) => status),
    isScoreOfSilences: score > unsilencedScore,
  };
}

test('a new fault opens a ticket, and its change is listed unless the run is the first', () => {
  expect(judge({})).toEqual({
    opened: ['new'],
    changed: [],
    changes: ['Blocked sessions: new: null → critical'],
    statuses: ['critical'],
    isScoreOfSilences: false,
  });
  expect(judge({ previous: [] })).toMatchObject({ opened: ['new'], changes: [] });
});

test('a silenced fault is listed, without ticket and score', () => {
  expect(judge({ outcomes: [outcome(false, finding('noise'))], silences: [silence] })).toEqual({
    opened: [],
    changed: [],
    changes: [],
    statuses: ['skipped'],
    isScoreOfSilences: true,
  });
});

test('what the pulses saw needs no second run', () => {
  const outcomes = [outcome(true, finding('new'))];
  const volatile = { outcomes, tickets: [ticket] };
  const holding = { holding: ['blocked'], cleared: [] } satisfies RunCase['evidence'];
  const cleared = { holding: [], cleared: ['blocked'] } satisfies RunCase['evidence'];
  expect(judge(volatile)).toMatchObject({ opened: [], changed: ['gone open'] });
  expect(judge({ ...volatile, evidence: holding })).toMatchObject({
    opened: ['new'],
    changed: ['gone open'],
  });
  expect(judge({ ...volatile, evidence: cleared })).toMatchObject({
    opened: [],
    changed: ['gone resolved'],
    changes: ['Blocked sessions: gone: critical → null'],
  });
});
