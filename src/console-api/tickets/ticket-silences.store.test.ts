import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { addSilence } from '../../tickets/silences/add-silence.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { TicketDetail } from './ticket.ts';
import type { TicketPage } from './ticket-list.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let ben: Owner;
let connection: number;
let ids: number[];

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
});

beforeEach(async () => {
  ada = await console.owner();
  ben = await console.member(ada.accountId, 'Ben', 'operator');
  connection = await store.connection(ada.accountId);
  ids = await addTickets(store, ada.accountId, { connections: [connection], count: 6 });
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

const ticket = (id = ids[0]) => ada.read<TicketDetail>(`/tickets/${id}`);
const idsIn = async (list: string) =>
  (await ada.read<TicketPage>(`/tickets?list=${list}`)).data.map(({ id }) => id);
const set = (sql: string, ...values: unknown[]) => store.writer.query(sql, values);

test('a silenced ticket names who silenced it, why and until when, until the silence ends', async () => {
  const [id = 0] = ids;
  const { check_id, object } = await ticket(id);
  const [, silence] = await ben.send<{ id: number }>('POST', `/connections/${connection}/silences`, {
    check_id,
    object,
    reason: 'wont_fix',
    note: 'The table is rebuilt each night.',
    until: '30d',
  });
  expect(await ticket(id)).toMatchObject({
    state: 'silenced',
    silence: { id: silence.id, by: 'Ben', reason: 'wont_fix', note: 'The table is rebuilt each night.' },
  });
  expect(await idsIn('silenced')).toEqual([id]);
  expect(await idsIn('resolved')).toEqual([]);
  const { data } = await ada.read<TicketPage>('/tickets?list=all&group=state');
  expect(data.at(-1)).toMatchObject({ id, state: 'silenced', by: 'Ben', until: expect.any(String) });
  await ada.send('DELETE', `/silences/${silence.id}`);
  expect(await ticket(id)).toMatchObject({ state: 'resolved', silence: null });
  expect(await idsIn('resolved')).toEqual([id]);
});

test('a silence of an older service has no author', async () => {
  const { check_id } = await ticket();
  const wanted = { check_id, object: null, reason: 'wont_fix', note: 'old', until: null } as const;
  await addSilence((work) => changeAccount(store.writer, ada.accountId, work), connection, wanted);
  await set('update silence set created_by = null where account_id = $1', ada.accountId);
  expect(await ticket()).toMatchObject({ state: 'silenced', silence: { by: null, until: null } });
});

test('a ticket lists other tickets of its finding, and alerts of its time', async () => {
  const [id = 0] = ids;
  await set(
    `with earlier as (
       update ticket set status = 'resolved', resolved_at = now() where account_id = $1 and ticket_id = $2 returning *
     )
     insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status, metric_line,
                         remediation, first_seen_at, last_seen_at)
     select account_id, connection_id, check_id, database, object, category, title, severity, 'open', '', '', now(), now()
       from earlier`,
    ada.accountId,
    id,
  );
  const later = Math.max(...(await idsIn('open')));
  expect((await ticket(later)).others).toEqual([
    { id, first_seen_at: expect.any(String), resolved_at: expect.any(String) },
  ]);
  expect((await ticket(id)).others.map((other) => other.id)).toEqual([later]);
  expect((await ticket(ids[1])).others).toEqual([]);
});
