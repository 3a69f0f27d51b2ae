import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { removeMember } from '../../accounts/members/remove-member.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { TicketDetail } from './ticket.ts';
import type { TicketPage } from './ticket-list.ts';
import type { TicketStats } from './ticket-stats.ts';
import type { People, TriageResult } from './ticket-triage.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let ben: Owner;
let connection: number;
/** All open, none changed. */
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

const seen = (version = 0, of = ids.slice(0, 2)) => of.map((id) => ({ id, version }));
const triage = (by: Owner, body: object) => by.send<TriageResult>('POST', '/tickets/triage', body);
const ticket = (id = ids[0]) => ada.read<TicketDetail>(`/tickets/${id}`);
const idsIn = async (list: string) =>
  (await ada.read<TicketPage>(`/tickets?list=${list}`)).data.map(({ id }) => id);
const entries = async () =>
  (
    await store.writer.query(
      `select action_type, properties from activity where account_id = $1 and action_type like 'ticket%' order by id`,
      [ada.accountId],
    )
  ).rows;
const set = (sql: string, ...values: unknown[]) => store.writer.query(sql, values);

test('tickets are assigned in one request, each with an entry that names who did it', async () => {
  expect(await triage(ada, { tickets: seen(), assignee_id: ben.memberId })).toEqual([
    200,
    { changed: seen(1), skipped: [] },
  ]);
  expect(await ticket()).toMatchObject({
    assignee: { id: ben.memberId, name: 'Ben' },
    state: 'new',
    version: 1,
  });
  expect((await ben.read<TicketPage>('/tickets?assignee=me')).data.map(({ id }) => id)).toEqual(
    ids.slice(0, 2).toReversed(),
  );
  expect(await entries()).toEqual(
    ids.slice(0, 2).map((ticket_id) => ({
      action_type: 'ticket_assigned',
      properties: expect.objectContaining({
        ticket_id,
        connection_id: connection,
        assignee_id: ben.memberId,
        assignee_name: 'Ben',
        actor_member_id: ada.memberId,
      }),
    })),
  );
  // Again: nothing changes, and nothing is recorded.
  expect(await triage(ben, { tickets: seen(1), assignee_id: ben.memberId })).toEqual([
    200,
    { changed: [], skipped: [] },
  ]);
  expect(await entries()).toHaveLength(2);
  await triage(ben, { tickets: seen(1), assignee_id: null });
  expect(await ticket()).toMatchObject({ assignee: null, version: 2 });
});

test('acknowledged, snoozed and withdrawn tickets change their list', async () => {
  const [first = 0, second = 0] = ids;
  await triage(ben, { tickets: seen(0, [first]), acknowledged: true });
  await triage(ben, { tickets: seen(0, [second]), acknowledged: true, until: '4h' });
  expect(await idsIn('acknowledged')).toEqual([first]);
  expect(await idsIn('snoozed')).toEqual([second]);
  expect(await idsIn('open')).not.toContain(second);
  expect(await ticket()).toMatchObject({ state: 'acknowledged', acknowledged: { by: 'Ben', until: null } });
  const stats = await ada.read<TicketStats>('/tickets/stats');
  expect(stats).toMatchObject({ open: 5, snoozed: 1 });
  await triage(ada, { tickets: seen(1), acknowledged: false });
  expect(await idsIn('new')).toHaveLength(6);
  expect((await entries()).map(({ action_type: type, properties: { until } }) => [type, until])).toEqual([
    ['ticket_acknowledged', null],
    ['ticket_acknowledged', expect.any(String)],
    ['ticket_unacknowledged', null],
    // The end of the snooze that was withdrawn.
    ['ticket_unacknowledged', expect.any(String)],
  ]);
});

describe('an acknowledgement ends', () => {
  const isNew = async () => expect(await ticket()).toMatchObject({ state: 'new', acknowledged: null });

  test('at the end of the snooze', async () => {
    await triage(ada, { tickets: seen(), acknowledged: true, until: '1h' });
    await set(`update ticket_triage set acknowledged_until = now() where account_id = $1`, ada.accountId);
    await isNew();
    // And can be given again.
    const [, { changed }] = await triage(ada, { tickets: seen(1), acknowledged: true });
    expect(changed).toHaveLength(2);
  });

  test('when the ticket gets worse, not when it gets better', async () => {
    await set(`update ticket set severity = 'warning' where account_id = $1`, ada.accountId);
    await triage(ada, { tickets: seen(), acknowledged: true });
    await set(`update ticket set severity = 'info' where account_id = $1`, ada.accountId);
    expect(await ticket()).toMatchObject({ state: 'acknowledged' });
    await set(`update ticket set severity = 'critical' where account_id = $1`, ada.accountId);
    await isNew();
  });

  test('when the ticket is resolved and opens again; its assignee stays', async () => {
    await triage(ada, { tickets: seen(), acknowledged: true, assignee_id: ben.memberId });
    await set(
      `update ticket set status = 'resolved', resolved_at = now(), resolution = 'no longer found' where account_id = $1`,
      ada.accountId,
    );
    expect(await ticket()).toMatchObject({
      state: 'resolved',
      acknowledged: null,
      assignee: { name: 'Ben' },
    });
    await set(
      `update ticket set status = 'open', resolved_at = null, reopened_at = array[now()] where account_id = $1`,
      ada.accountId,
    );
    await isNew();
    expect(await ticket()).toMatchObject({ assignee: { name: 'Ben' } });
  });
});

test('a resolved ticket is skipped, the others are changed', async () => {
  await set(
    `update ticket set status = 'resolved', resolved_at = now() where account_id = $1 and ticket_id = $2`,
    ada.accountId,
    ids[0],
  );
  expect(await triage(ada, { tickets: seen(), acknowledged: true })).toEqual([
    200,
    { changed: seen(1, [ids[1] ?? 0]), skipped: [{ id: ids[0], reason: 'resolved', by: null }] },
  ]);
});

test('of two members who assign at once, one wins, and the other learns of it', async () => {
  const answers = await Promise.all(
    [ada, ben].map((who) => triage(who, { tickets: seen(), assignee_id: who.memberId })),
  );
  const results = answers.map(([, result]) => result);
  expect(results.map(({ changed }) => changed.length).toSorted()).toEqual([0, 2]);
  const loser = results.find(({ changed }) => changed.length === 0);
  const winner = (await ticket()).assignee?.name;
  expect(loser?.skipped).toEqual(ids.slice(0, 2).map((id) => ({ id, reason: 'changed', by: winner })));
  expect(await entries()).toHaveLength(2);
});

describe('undo', () => {
  const undo = (by: Owner, version: number) =>
    by.send<TriageResult>('POST', '/tickets/triage/undo', { tickets: seen(version) });

  test('restores assignee, author and time', async () => {
    await triage(ben, { tickets: seen(), acknowledged: true, until: '1h' });
    const before = await ticket();
    await triage(ada, { tickets: seen(1), acknowledged: false });
    expect(await undo(ada, 2)).toEqual([200, { changed: seen(3), skipped: [] }]);
    const { history: _, ...shown } = before;
    expect(await ticket()).toMatchObject({ ...shown, version: 3 });
    expect((await entries()).at(-1)).toMatchObject({
      action_type: 'ticket_acknowledged',
      properties: { undone: true, actor_member_id: ada.memberId },
    });
    // Only once.
    expect((await undo(ada, 3))[1].changed).toEqual([]);
  });

  test('assigns nothing to a member who was suspended since', async () => {
    await triage(ada, { tickets: seen(), assignee_id: ben.memberId });
    await triage(ada, { tickets: seen(1), assignee_id: ada.memberId });
    await set(
      `update member set status = 'suspended' where account_id = $1 and member_id = $2`,
      ada.accountId,
      ben.memberId,
    );
    expect((await undo(ada, 2))[1].changed).toEqual(seen(3));
    expect(await ticket()).toMatchObject({ assignee: null });
    expect((await entries()).at(-1)).toMatchObject({
      action_type: 'ticket_assigned',
      properties: { undone: true, assignee_id: null, assignee_name: null },
    });
  });

  test('leaves alone what somebody changed since', async () => {
    await triage(ada, { tickets: seen(), assignee_id: ada.memberId });
    await triage(ben, { tickets: seen(1, [ids[0] ?? 0]), assignee_id: ben.memberId });
    expect((await undo(ada, 1))[1]).toEqual({
      changed: seen(2, [ids[1] ?? 0]),
      skipped: [{ id: ids[0], reason: 'changed', by: 'Ben' }],
    });
    expect(await ticket()).toMatchObject({ assignee: { name: 'Ben' } });
  });
});

test('a removed member is assigned to nothing, and a suspended or foreign one can not be chosen', async () => {
  await triage(ada, { tickets: seen(), assignee_id: ben.memberId });
  await changeAccount(store.writer, ada.accountId, (change) => removeMember(change, ben.memberId));
  expect(await ticket()).toMatchObject({ assignee: null });
  expect(await ada.read<TicketPage>('/tickets?assignee=nobody')).toMatchObject({ total: 6 });
  const eve = await console.owner();
  const paul = await console.member(ada.accountId, 'Paul', 'viewer');
  await set(`update member set status = 'suspended' where member_id = $1`, paul.memberId);
  for (const { memberId } of [ben, eve, paul]) {
    expect(await triage(ada, { tickets: seen(1), assignee_id: memberId })).toMatchObject([
      400,
      { error: { parameter: 'assignee_id' } },
    ]);
  }
  const { data } = await ada.read<People>('/tickets/people');
  expect(data.map(({ id }) => id)).toEqual([ada.memberId]);
});

test('another account’s tickets do not exist, and nothing is changed beside them', async () => {
  const eve = await console.owner();
  for (const [by, path, body] of [
    [eve, '/tickets/triage', { tickets: seen(), acknowledged: true }],
    [eve, '/tickets/triage', { tickets: [...seen(), { id: 999_999_999, version: 0 }], assignee_id: null }],
    [ada, '/tickets/triage', { tickets: [...seen(), { id: 999_999_999, version: 0 }], acknowledged: true }],
    [eve, '/tickets/triage/undo', { tickets: seen() }],
  ] as const) {
    expect(await by.send('POST', path, body)).toMatchObject([404, { error: { code: 'not_found' } }]);
  }
  expect(await eve.read('/tickets?list=all')).toMatchObject({ total: 0 });
  expect((await eve.refused(`/tickets/${ids[0]}`))[0]).toBe(404);
  expect(await idsIn('new')).toHaveLength(6);
});

test('who may not change connections looks on', async () => {
  const viewer = await console.member(ada.accountId, 'Vera', 'viewer');
  expect(await viewer.read('/tickets')).toMatchObject({ total: 6 });
  for (const path of ['/tickets/triage', '/tickets/triage/undo']) {
    expect(await viewer.send('POST', path, { tickets: seen(), acknowledged: true })).toMatchObject([403, {}]);
  }
});

describe('400', () => {
  const thousands = Array.from({ length: 10_000 }, (_, n) => ({ id: n + 1, version: 0 }));
  test.each<[string, object, number?]>([
    ['no tickets', { tickets: [], acknowledged: true }],
    ['1,001 tickets', { tickets: thousands.slice(0, 1_001), acknowledged: true }],
    ['10,000 tickets', { tickets: thousands, acknowledged: true }, 413],
    ['an end in the past', { tickets: seen(0, [1]), acknowledged: true, until: '2020-01-01' }],
    ['an end without an acknowledgement', { tickets: seen(0, [1]), until: '4h' }],
    ['an end of a withdrawal', { tickets: seen(0, [1]), acknowledged: false, until: '4h' }],
    ['a fraction', { tickets: [{ id: 1.5, version: 0 }] }],
    ['an id beyond 2^53', { tickets: [{ id: 2 ** 53, version: 0 }] }],
    ['a negative version', { tickets: [{ id: 1, version: -1 }] }],
    ['a name as assignee', { tickets: seen(0, [1]), assignee_id: 'Ben' }],
    ['another field', { tickets: seen(0, [1]), account_id: 2 }],
  ])('%s', async (_, body, status = 400) => {
    expect((await triage(ada, body))[0]).toBe(status);
  });
});

test('a thousand tickets are changed at once', async () => {
  const many = await addTickets(store, ada.accountId, {
    connections: [await store.connection(ada.accountId)],
    count: 1_000,
  });
  const [, { changed }] = await triage(ada, { tickets: seen(0, many), assignee_id: ben.memberId });
  expect(changed).toHaveLength(1_000);
});

test('triage raises no generation, so answers of the API are kept', async () => {
  const generation = async () =>
    (await store.writer.query('select generation from account where account_id = $1', [ada.accountId])).rows;
  const before = await generation();
  await triage(ada, { tickets: seen(), assignee_id: ben.memberId, acknowledged: true, until: '4h' });
  await ada.send('POST', '/tickets/triage/undo', { tickets: seen(1) });
  expect(await generation()).toEqual(before);
  // What would raise it.
  await set(`update ticket set severity = 'info' where account_id = $1`, ada.accountId);
  expect(await generation()).not.toEqual(before);
});
