import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { Finding } from '../../checks/check.ts';
import { recordCheck } from '../../runs/record-check.ts';
import { inTransaction } from '../../store/connect.ts';
import { planTickets } from '../../tickets/plan-tickets.ts';
import { recordFindings } from '../../tickets/record-findings.ts';
import type { ConnectionDetail } from '../connections/connection-schemas.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { TicketDetail } from '../tickets/ticket.ts';

let store: TestStore;
let testConsole: TestConsole;

beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const measured = { metric: 'dead_rows_ratio', value: 0.3, operator: '>=', threshold: 0.2 } as const;
const check = { id: 'PG_DEAD_TUPLES', category: 'vacuum', title: 'Dead rows' } as const;
const finding: Finding = {
  check_id: check.id,
  category: check.category,
  title: check.title,
  status: 'warning',
  severity: 'warning',
  metric_line: '30 % of the rows are dead.',
  remediation: 'VACUUM;',
  database: 'shop',
  object: 'public.t',
};

/** An owner with a connection whose latest run found `findings`, and the paths of its ticket. */
async function ownerWith(found: Finding) {
  const owner = await testConsole.owner();
  const connectionId = await store.connection(owner.accountId);
  const scope = { accountId: owner.accountId, connectionId, at: '2026-01-01T00:00:00Z' };
  const outcome = {
    check: { ...check, volatile: false, maxSeverity: 'warning' },
    findings: [found],
  } as const;
  await inTransaction(store.writer, async (client) => {
    const cost = { milliseconds: 1, statements: 1, bytes: 1 };
    await recordCheck(client, { ...scope, score: 80, summaryText: '', findings: [found], cost });
    const outcomes = [{ ...outcome, findings: [found], measured: true, unmeasured: [], near: [] }];
    await recordFindings(client, scope, planTickets(outcomes, [], []));
  });
  const { data } = await owner.read<{ data: { id: number }[] }>('/read/ops/tickets');
  const connection = await owner.read<ConnectionDetail>(`/connections/${connectionId}`);
  const ticket = await owner.read<TicketDetail>(`/tickets/${data[0]?.id}`);
  const shown = [ticket, ...(connection.latest?.findings ?? [])].map((of) => of.measured);
  return { ...owner, connectionId, shown };
}

test('the console shows the number of a finding on the connection and on the ticket', async () => {
  expect((await ownerWith({ ...finding, measured })).shown).toEqual([measured, measured]);
  expect((await ownerWith(finding)).shown).toEqual([null, null]);
});

test('no endpoint of the API shows it, nor does a change of it alone change an answer', async () => {
  const { accountId, connectionId, readText } = await ownerWith({ ...finding, measured });
  const answers = () =>
    Promise.all([
      readText(`/read/health/connections/${connectionId}/checks/latest`),
      readText('/read/ops/tickets'),
      readText('/read/health/connections'),
      readText('/read/ops/stats'),
    ]);
  const withNumber = await answers();
  expect(withNumber.join()).toContain(finding.metric_line);
  const root = await store.superuser('store');
  await root.query('update ticket set measured = null where account_id = $1', [accountId]);
  await root.query('update health_check set findings = $2 where account_id = $1', [
    accountId,
    JSON.stringify([finding]),
  ]);
  expect(await answers()).toEqual(withNumber);
});
