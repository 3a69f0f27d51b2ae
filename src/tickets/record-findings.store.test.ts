import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { inTransaction } from '../store/connect.ts';
import { planTickets } from './plan-tickets.ts';
import { listStandingTickets, recordFindings, resolveConnectionTickets } from './record-findings.ts';
import { type Level, outcomes, playSamples, type Sample } from './samples-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const play = (volatile: boolean, samples: Sample[]) => playSamples(store, volatile, samples);
const t = { t: 'warning' } as const;

describe('the tickets of a run', () => {
  const rules: [string, boolean, Sample[], string[][], object[]][] = [
    [
      'opens at once, also for an info finding',
      false,
      [{ hour: 0, found: { t: 'warning', u: 'info' } }],
      [['opened', 'opened']],
      [
        { object: 't', status: 'open', severity: 'warning', first_hour: 0 },
        { object: 'u', status: 'open', severity: 'info' },
      ],
    ],
    [
      'stays one ticket while the finding persists; severity and line are updated, and an entry records it',
      false,
      [
        { hour: 0, found: t },
        { hour: 1, found: { t: 'critical' } },
        { hour: 2, found: { t: 'critical' } },
        { hour: 3, found: { t: 'info' } },
      ],
      [['opened'], ['escalated'], [], ['deescalated']],
      [{ severity: 'info', metric_line: 't is info', first_hour: 0, last_hour: 3 }],
    ],
    [
      'is reopened, not escalated, if the finding returns with another severity',
      false,
      [{ hour: 0, found: t }, { hour: 1 }, { hour: 2, found: { t: 'critical' } }],
      [['opened'], ['resolved'], ['reopened']],
      [{ severity: 'critical', status: 'open' }],
    ],
    [
      'resolves if a complete run no longer finds the object, and no other ticket resolves',
      false,
      [
        { hour: 0, found: { t: 'warning', u: 'warning' } },
        { hour: 3, found: { u: 'warning' } },
      ],
      [['opened', 'opened'], ['resolved']],
      [
        { object: 't', status: 'resolved', last_hour: 0, resolved_hour: 3 },
        { object: 'u', status: 'open', last_hour: 3 },
      ],
    ],
    [
      'stays open through errors, skipped checks, unreachable runs and truncated lists',
      false,
      [
        { hour: 0, found: t },
        { hour: 1, status: 'error' },
        { hour: 2, status: 'skipped' },
        { hour: 3, status: 'unreachable' },
        { hour: 4, found: { u: 'info' }, truncated: true },
      ],
      [['opened'], [], [], [], ['opened']],
      [{ object: 't', status: 'open', last_hour: 0 }, { object: 'u' }],
    ],
    [
      'reopens within 24 h',
      false,
      [{ hour: 0, found: t }, { hour: 1 }, { hour: 24, found: t }],
      [['opened'], ['resolved'], ['reopened']],
      [{ status: 'open', first_hour: 0, last_hour: 24, resolved_hour: null, turns: 1 }],
    ],
    [
      'is a new ticket after 24 h',
      false,
      [{ hour: 0, found: t }, { hour: 1 }, { hour: 25, found: t }],
      [['opened'], ['resolved'], ['opened']],
      [
        { status: 'resolved', turns: 0 },
        { status: 'open', first_hour: 25 },
      ],
    ],
    [
      'stays open for 24 h after three reopenings within 24 h',
      false,
      [
        ...[0, 1, 2, 3, 4, 5, 6].map((hour) => (hour % 2 === 0 ? { hour, found: t } : { hour })),
        { hour: 7 },
        { hour: 29 },
        { hour: 30 },
      ],
      [
        ['opened'],
        ['resolved'],
        ['reopened'],
        ['resolved'],
        ['reopened'],
        ['resolved'],
        ['reopened'],
        [],
        [],
        ['resolved'],
      ],
      [{ status: 'resolved', turns: 3, resolved_hour: 30 }],
    ],
    [
      'resolves as usual if its three reopenings are further apart',
      false,
      [
        ...[0, 10, 20, 30, 40, 50].map((hour) => (hour % 20 === 0 ? { hour, found: t } : { hour })),
        { hour: 60, found: t },
        { hour: 61 },
      ],
      [
        ['opened'],
        ['resolved'],
        ['reopened'],
        ['resolved'],
        ['reopened'],
        ['resolved'],
        ['reopened'],
        ['resolved'],
      ],
      [{ status: 'resolved', turns: 3, resolved_hour: 61 }],
    ],
    [
      'volatile: opens on the second consecutive sample',
      true,
      [
        { hour: 0, found: t },
        { hour: 1, found: t },
      ],
      [[], ['opened']],
      [{ first_hour: 1 }],
    ],
    [
      'volatile: two samples with a clean run between them open nothing',
      true,
      [{ hour: 0, found: t }, { hour: 1 }, { hour: 2, found: t }],
      [[], [], []],
      [],
    ],
    [
      'volatile: another object counts as a first sample',
      true,
      [
        { hour: 0, found: t },
        { hour: 1, found: { u: 'warning' } },
      ],
      [[], []],
      [],
    ],
    [
      'volatile: resolves after two clean runs',
      true,
      [{ hour: 0, found: t }, { hour: 1, found: t }, { hour: 2 }, { hour: 3 }],
      [[], ['opened'], [], ['resolved']],
      [{ status: 'resolved', resolved_hour: 3 }],
    ],
    [
      'volatile: a run at 90 % of the threshold is not clean, nor is a run that finds it again',
      true,
      [
        { hour: 0, found: t },
        { hour: 1, found: t },
        { hour: 2 },
        { hour: 3, near: ['t'] },
        { hour: 4 },
        { hour: 5, found: t },
        { hour: 6 },
      ],
      [[], ['opened'], [], [], [], [], []],
      [{ status: 'open', clean_runs: 1, last_hour: 5 }],
    ],
    [
      'volatile: reopens on the second sample',
      true,
      [
        { hour: 0, found: t },
        { hour: 1, found: t },
        { hour: 2 },
        { hour: 3 },
        { hour: 4, found: t },
        { hour: 5, found: t },
      ],
      [[], ['opened'], [], ['resolved'], [], ['reopened']],
      [{ status: 'open', turns: 1, first_hour: 1, last_hour: 5 }],
    ],
  ];
  test.each(rules)('%s', async (_rule, volatile, samples, entries, tickets) => {
    const played = await play(volatile, samples);
    expect(played.entries).toEqual(entries);
    expect(played.tickets).toHaveLength(tickets.length);
    expect(played.tickets).toMatchObject(tickets);
  });
});

test('a changed severity is recorded with its old and new value', async () => {
  const accountId = await store.account();
  const scope = { accountId, connectionId: await store.connection(accountId), at: '2026-01-01T00:00:00Z' };
  const run = (level: Level) =>
    inTransaction(store.writer, async (client) => {
      const found = outcomes(false, { hour: 0, found: { t: level } });
      return recordFindings(client, scope, planTickets(found, [], await listStandingTickets(client, scope)));
    });
  const [opened] = await run('warning');
  const { ticket_id } = opened?.properties ?? {};
  expect(opened?.ticket).toMatchObject({ ticket_id, object: 't', severity: 'warning', resolution: null });
  const entryOf = (actionType: string, from: Level, to: Level) => ({
    actionType,
    pagePath: `/ops/tickets/${ticket_id}`,
    properties: { ...opened?.properties, severity: to, from, to },
    ticket: { ...opened?.ticket, severity: to, metric_line: `t is ${to}` },
  });
  expect(await run('critical')).toEqual([entryOf('ticket_escalated', 'warning', 'critical')]);
  expect(await run('info')).toEqual([entryOf('ticket_deescalated', 'critical', 'info')]);
});

test('a ticket has the number of the run that found it last, as it has its line', async () => {
  const accountId = await store.account();
  const scope = { accountId, connectionId: await store.connection(accountId), at: '2026-01-01T00:00:00Z' };
  const measured = { metric: 'dead_rows_ratio', value: 0.3, operator: '>=', threshold: 0.2 } as const;
  const run = async (found: Sample['found'], value?: number) => {
    const sample = outcomes(true, { hour: 0, ...(found && { found }) });
    const findings = sample.flatMap((outcome) => outcome.findings);
    for (const finding of findings)
      if (value !== undefined) Object.assign(finding, { measured: { ...measured, value } });
    await inTransaction(store.writer, async (client) => {
      const tickets = await listStandingTickets(client, scope);
      return recordFindings(client, scope, planTickets(sample, findings, tickets));
    });
    const { rows } = await store.writer.query('select measured from ticket where account_id = $1', [
      accountId,
    ]);
    return rows[0]?.measured;
  };
  expect(await run(t, 0.3)).toEqual(measured);
  expect(await run(t, 0.4)).toEqual({ ...measured, value: 0.4 });
  expect(await run(undefined)).toEqual({ ...measured, value: 0.4 });
  expect(await run(t)).toBeNull();
});

test('removing a connection resolves its open tickets with that reason', async () => {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const scope = { accountId, connectionId, at: '2026-01-01T00:00:00Z' };
  const entries = await inTransaction(store.writer, async (client) => {
    const found = outcomes(false, { hour: 0, found: t });
    await recordFindings(client, scope, planTickets(found, [], []));
    return resolveConnectionTickets(client, {
      ...scope,
      at: '2026-01-01T01:30:00Z',
      reason: 'connection removed',
    });
  });
  const ticket_id = entries[0]?.properties['ticket_id'];
  expect(entries).toEqual([
    {
      actionType: 'ticket_resolved',
      pagePath: `/ops/tickets/${ticket_id}`,
      properties: {
        ticket_id,
        connection_id: connectionId,
        check_id: 'PG_TEST',
        severity: 'warning',
        title: 'Test',
        reason: 'connection removed',
        resolution_hours: 1.5,
      },
      ticket: expect.objectContaining({
        ticket_id,
        database: 'shop',
        object: 't',
        metric_line: 't is warning',
        remediation: 'fix',
        first_seen_at: new Date(scope.at),
        resolution: 'connection removed',
        resolution_hours: 1.5,
      }),
    },
  ]);
});
