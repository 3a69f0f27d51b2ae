import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { changeTriage } from '../../tickets/triage/change-triage.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { TicketDetail } from './ticket.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let ben: Owner;

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
  ada = await console.owner();
  ben = await console.member(ada.accountId, 'Ben', 'operator');
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

async function newTicket() {
  const connection = await store.connection(ada.accountId);
  const [id = 0] = await addTickets(store, ada.accountId, { connections: [connection], count: 1 });
  let version = 0;
  return {
    id,
    connection,
    read: () => ada.read<TicketDetail>(`/tickets/${id}`),
    triage: async (body: object) => {
      const [status] = await ben.send('POST', '/tickets/triage', { tickets: [{ id, version }], ...body });
      version++;
      expect(status).toBe(200);
    },
    undo: async () => {
      await ben.send('POST', '/tickets/triage/undo', { tickets: [{ id, version }] });
      version++;
    },
    steps: async () =>
      (await ada.read<TicketDetail>(`/tickets/${id}`)).history.map(({ kind, by, detail, undone }) =>
        [kind, by, detail, undone && 'undone'].filter(Boolean).join(' '),
      ),
  };
}

const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();

test('every action on a ticket is in its history, with who did it', async () => {
  const { id, connection, triage, undo, steps, read } = await newTicket();
  await triage({ assignee_id: ben.memberId });
  await triage({ assignee_id: null });
  await triage({ acknowledged: true });
  await triage({ acknowledged: false });
  await triage({ acknowledged: true, until: IN_AN_HOUR });
  await triage({ acknowledged: false });
  await undo();
  const [, comment] = await ben.send<{ id: number }>('POST', `/tickets/${id}/comments`, { body: 'Looking.' });
  await ben.send('DELETE', `/ticket-comments/${comment.id}`);
  const { check_id, object } = await read();
  const [, silence] = await ben.send<{ id: number }>('POST', `/connections/${connection}/silences`, {
    check_id,
    object,
    reason: 'accepted_risk',
    note: 'Known.',
    until: '30d',
  });
  const [before, ended] = [await steps(), await ben.send('DELETE', `/silences/${silence.id}`)];
  expect(ended[0]).toBe(204);
  const wanted = [
    'found',
    'assigned Ben Ben',
    'unassigned Ben',
    'acknowledged Ben',
    'unacknowledged Ben',
    'snoozed Ben',
    'unsnoozed Ben',
    'snoozed Ben undone',
    'commented Ben',
    'comment_removed Ben',
    'silenced Ben accepted risk: Known.',
  ];
  expect(before).toEqual(wanted);
  expect(await steps()).toEqual([...wanted, 'silence_ended Ben']);
  expect((await read()).history.find(({ kind }) => kind === 'snoozed')).toMatchObject({
    at: expect.any(String),
    until: IN_AN_HOUR,
  });
});

test('a command is named as such, and another ticket of the account has none of it', async () => {
  const [ticket, other] = [await newTicket(), await newTicket()];
  await changeAccount(store.writer, ada.accountId, (change) =>
    changeTriage((work) => work(change), [{ id: ticket.id, version: 0 }], { acknowledged: { until: null } }),
  );
  expect(await ticket.steps()).toEqual(['found', 'acknowledged command line']);
  expect(await other.steps()).toEqual(['found']);
});

test('the entries of a ticket are found by an index, under row-level security', async () => {
  const client = await store.writer.connect();
  try {
    await client.query(
      `begin; set local enable_seqscan = off; set local role dbvitals_console; set local dbvitals.account_id = '1'`,
    );
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      'explain select properties from activity where account_id = 1 and ticket_id = 5 order by id desc limit 200',
    );
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('activity_ticket');
  } finally {
    await client.query('rollback');
    client.release();
  }
});
