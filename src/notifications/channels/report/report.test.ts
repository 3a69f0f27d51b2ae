import { expect, test } from 'vitest';
import type { EventKind } from '../../../vocabulary/event-kinds.ts';
import { CONTEXT, exampleEvent } from '../message-event-fixture.ts';
import { summarize } from '../summary.ts';
import { reportOf } from './report.ts';

test('the measured text is a sentence', () => {
  const event = exampleEvent({ details: { metric_line: 'in schema `shop`, columns differ.' } });
  expect(reportOf(event, CONTEXT).facts).toContainEqual({
    name: 'Measured',
    text: 'In schema `shop`, columns differ.',
  });
});

const BLOCKED = {
  title: 'Session that blocks others',
  check_id: 'PG_BLOCKED_SESSIONS',
  metric_line:
    'Sessions of shop/bob/psql (database, role, application), idle in transaction, have blocked 14 sessions for 45 s; end them, and set a lock_timeout to limit future waits.',
};

test('the headline of blocked sessions says who blocks how many, until it is over', () => {
  const headline = (kind: EventKind) => reportOf(exampleEvent({ kind, details: BLOCKED }), CONTEXT).heading;
  expect(headline('ops.ticket_created')).toMatch(
    / on orders: Sessions of shop\/bob\/psql, idle in transaction, have blocked 14 sessions for 45 s$/,
  );
  expect(headline('ops.ticket_resolved')).toMatch(/ on orders: Session that blocks others$/);
});

test('a message with several events begins with the worst, and its count is never cut', () => {
  const events = [
    exampleEvent({ severity: 'warning' }),
    exampleEvent({ severity: 'critical', details: BLOCKED }),
    exampleEvent({ severity: 'warning' }),
  ];
  const heading = (text: number) =>
    summarize(events, CONTEXT, { full: 1, lines: 1, text, code: 100, changes: 0 }).heading;
  expect(heading(200)).toBe(
    'Critical on orders: Sessions of shop/bob/psql, idle in transaction, have blocked 14 sessions for 45 s, and 2 more (2 warnings) in Acme',
  );
  expect(heading(80)).toMatch(/^Critical on orders: .*…, and 2 more \(2 warnings\) in Acme$/);
  const metric_line = 'Sessions of shop/bob/psql have blocked 14 sessions.';
  events[1] = exampleEvent({ severity: 'critical', details: { ...BLOCKED, metric_line } });
  expect(heading(200)).toContain('have blocked 14 sessions, and 2 more');
});
