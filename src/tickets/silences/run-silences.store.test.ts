import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import type { Finding, Outcome } from '../../checks/check.ts';
import { score, summaryText } from '../../checks/score.ts';
import { inTransaction } from '../../store/connect.ts';
import { planTickets } from '../plan-tickets.ts';
import { listStandingTickets, recordFindings, resolveSilencedTickets } from '../record-findings.ts';
import { addSilence } from './add-silence.ts';
import { endSilence } from './end-silence.ts';
import { readSilences, silenceOutcomes } from './run-silences.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

type Level = 'critical' | 'warning' | 'info';
type Found = Record<string, Level> | 'error';

const check = (volatile: boolean) =>
  ({ id: 'PG_TEST', category: 'schema', title: 'Test', maxSeverity: 'critical', volatile }) as const;

function outcomeOf(found: Found, volatile: boolean): Outcome {
  const { id: check_id, category, title } = check(volatile);
  const finding = (object: string | null, status: Finding['status']): Finding => ({
    check_id,
    category,
    title,
    status,
    metric_line: `${object} is ${status}`,
    remediation: 'fix',
    severity: status === 'warning' || status === 'info' ? status : 'critical',
    database: 'shop',
    object,
  });
  const faults =
    found === 'error' ? [] : Object.entries(found).map(([object, level]) => finding(object, level));
  return {
    check: check(volatile),
    findings: faults.length > 0 ? faults : [finding(null, found === 'error' ? 'error' : 'ok')],
    measured: found !== 'error',
    unmeasured: [],
    near: [],
  };
}

/** Creates a connection with helpers to run checks and to add and end silences at hours of one day. */
async function watched(volatile = false) {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const scope = (hour: number) => ({ accountId, connectionId, at: instant(hour).toISOString() });
  const changeAt =
    (hour: number, entries: Parameters<typeof told>[0] = []): ChangeAccount =>
    (work) =>
      inTransaction(store.writer, (client) => {
        const record: Change['record'] = (actionType, _page, properties) =>
          void entries.push({ actionType, properties });
        const atEnd: Change['atEnd'] = () => {}; // silences have no such rule
        return work({ ...scope(hour), author: 'Ada', memberId: null, client, record, atEnd });
      });
  let previous: Finding[] = [];
  const told = (entries: { actionType: string; properties: Record<string, unknown> }[]) =>
    entries.map(({ actionType, properties }) =>
      [actionType.replace('ticket_', ''), properties['reason']].filter(Boolean).join(', '),
    );
  return {
    run: (hour: number, found: Found) =>
      inTransaction(store.writer, async (client) => {
        const measured = [outcomeOf(found, volatile)];
        const { active } = await readSilences(client, scope(hour));
        const entries = active.length > 0 ? await resolveSilencedTickets(client, scope(hour)) : [];
        const outcomes = silenceOutcomes(measured, active);
        const tickets = await listStandingTickets(client, scope(hour));
        const changes = await recordFindings(client, scope(hour), planTickets(outcomes, previous, tickets));
        previous = outcomes.flatMap(({ findings }) => findings);
        const open = tickets.filter(({ status }) => status === 'open');
        return {
          told: told([...entries, ...changes]),
          statuses: previous.map(({ status }) => status),
          findings: previous,
          score: score(outcomes, open),
          summary: summaryText(outcomes),
        };
      }),
    silence: async (hour: number, object: string | null = null, until: number | null = null) => {
      const entries: Parameters<typeof told>[0] = [];
      const { id } = await addSilence(changeAt(hour, entries), connectionId, {
        check_id: 'PG_TEST',
        object,
        reason: 'accepted_risk',
        note: 'known',
        until: until === null ? null : instant(until),
      });
      return { id, told: told(entries.slice(1)) }; // the first is the silence's own
    },
    end: (hour: number, silenceId: number) => endSilence(changeAt(hour), silenceId),
  };
}

function instant(hour: number): Date {
  return new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000);
}

test('a silenced finding is listed as skipped with the reason, does not lower the score and opens no ticket', async () => {
  const { run, silence } = await watched();
  await silence(0, null, 48);
  const { told, findings, score: points, summary } = await run(1, { t: 'warning' });
  expect(told).toEqual([]);
  expect(findings).toMatchObject([
    {
      status: 'skipped',
      severity: 'critical',
      object: 't',
      remediation: 'fix',
      metric_line: 'Silenced until 2026-01-03T00:00:00.000Z (accepted_risk: known): t is warning',
    },
  ]);
  expect([points, summary]).toEqual([100, 'No problem found in 0 checks; 1 silenced']);
});

test('adding a silence resolves its open ticket with the reason, but not the ticket of another object', async () => {
  const { run, silence } = await watched();
  await run(0, { t: 'warning', u: 'warning' });
  expect((await silence(1, 't')).told).toEqual(['resolved, silenced: accepted_risk']);
  const { told, statuses, score: points, summary } = await run(2, { t: 'warning', u: 'warning' });
  expect(told).toEqual([]);
  expect(statuses).toEqual(['skipped', 'warning']);
  expect([points, summary]).toEqual([92, '1 warning: Test; 1 silenced']);
});

test('the next run resolves an open ticket that a silence covers, even if the check was not measured', async () => {
  const { run, silence } = await watched();
  await silence(0);
  const { rowCount } = await store.writer.query(
    `insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status,
                         metric_line, remediation, first_seen_at, last_seen_at)
     select account_id, connection_id, 'PG_TEST', 'shop', 't', 'schema', 'Test', 'critical', 'open', '', '', $1, $1
       from silence order by silence_id desc limit 1`,
    [instant(0)],
  );
  expect(rowCount).toBe(1);
  const { told, score: points } = await run(1, 'error');
  expect(told).toEqual(['resolved, silenced: accepted_risk']);
  expect(points).toBe(100);
});

test('a check whose findings are all silenced counts as measured: tickets of other objects resolve', async () => {
  const { run, silence } = await watched();
  await run(0, { t: 'warning', u: 'warning' });
  await silence(1, 't');
  expect((await run(2, { t: 'warning' })).told).toEqual(['resolved, no longer found']);
});

test('after a silence ends the ticket reopens; after 24 h a new one opens', async () => {
  for (const [until, again] of [
    [10, 'reopened'],
    [30, 'opened'],
  ] as const) {
    const { run, silence } = await watched();
    await run(0, { t: 'warning' });
    await silence(1, null, until);
    expect((await run(until - 1, { t: 'warning' })).told).toEqual([]);
    expect((await run(until, { t: 'warning' })).told).toEqual([again]);
  }
});

test('a volatile check is silenced immediately and needs two samples again afterwards', async () => {
  const { run, silence, end } = await watched(true);
  await run(0, { t: 'warning' });
  await run(1, { t: 'warning' });
  const { id, told } = await silence(2);
  expect(told).toEqual(['resolved, silenced: accepted_risk']);
  await run(3, { t: 'warning' });
  expect(await end(4, id)).toMatchObject({ id, until: instant(4) });
  await expect(end(5, id)).rejects.toThrow(`There is no active silence ${id}`);
  expect((await run(5, { t: 'warning' })).told).toEqual([]);
  expect((await run(6, { t: 'warning' })).told).toEqual(['reopened']);
});

test('unmeasured and healthy checks are not reported as silenced', async () => {
  const { run, silence } = await watched();
  await silence(0);
  expect(await run(1, 'error')).toMatchObject({
    statuses: ['error'],
    summary: 'No problem found in 0 checks; 1 not measured',
  });
  expect(await run(2, {})).toMatchObject({ statuses: ['ok'], summary: 'No problem found in 1 check' });
});

test('a silence of the object takes precedence, then the one that lasts longest', async () => {
  const { run, silence } = await watched();
  await silence(0, null, 40);
  await silence(1, null, 50);
  await silence(2, 't', 30);
  const { findings } = await run(3, { t: 'warning', u: 'warning' });
  expect(findings.map(({ metric_line }) => metric_line.slice(15, 28))).toEqual([
    '2026-01-02T06',
    '2026-01-03T02',
  ]);
});

test('a silence of another connection or account has no effect', async () => {
  const [here, there] = [await watched(), await watched()];
  await there.silence(0);
  expect((await here.run(1, { t: 'warning' })).told).toEqual(['opened']);
});
