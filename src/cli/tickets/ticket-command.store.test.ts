import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addMember } from '../../accounts/members/add-member.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { runCommand } from '../run-command-fixture.ts';
import type { PrintedTicket } from './listed-tickets.ts';
import { addTicketCommands } from './ticket-command.ts';

let store: TestStore;
let account: number;
let connection: number;
let ids: number[];
let ben: number;

beforeAll(async () => {
  store = await startTestStore();
});

beforeEach(async () => {
  account = await store.account();
  connection = await store.connection(account);
  ids = await addTickets(store, account, { connections: [connection], count: 4 });
  ben = await memberIn(account, 'Ben');
});

afterAll(() => store.stop());

async function memberIn(of: number, name: string, status: 'active' | 'suspended' = 'active') {
  const wanted = { name, email: `${name}.${of}@example.com`, roles: ['operator' as const], status };
  return (await changeAccount(store.writer, of, (change) => addMember(change, wanted))).id;
}

/** Runs a command of the account; `_` stands for a blank in a word. */
function run(line: string): Promise<string> {
  const words = line.split(' ').map((word) => word.replaceAll('_', ' '));
  return runCommand(store, addTicketCommands, ['ticket', ...words, '--account', String(account)]);
}

const json = async <T>(line: string): Promise<T> => JSON.parse(await run(`${line} --json`));
const listed = async (filter = '') => (await json<PrintedTicket[]>(`list${filter}`)).map(({ id }) => id);
const newestFirst = () => ids.toReversed();
const entries = async () =>
  (
    await store.writer.query<{ action_type: string; properties: Record<string, unknown> }>(
      `select action_type, properties from activity where account_id = $1 and action_type like 'ticket%' order by id`,
      [account],
    )
  ).rows;

test('tickets are assigned, acknowledged, snoozed and made new again, by entries that name the command line', async () => {
  const [one = 0, two = 0, three = 0] = ids;
  expect(await json(`assign ${one} ${two} ${one} --to ben.${account}@EXAMPLE.com`)).toEqual({
    changed: [one, two],
  });
  expect(await json(`assign ${two} --to ${ben}`)).toEqual({ changed: [] });
  expect(await listed(` --assignee ${ben}`)).toEqual([two, one]);
  expect(await json(`assign ${two} --to nobody`)).toEqual({ changed: [two] });
  expect(await listed(' --assignee nobody')).toEqual(newestFirst().filter((id) => id !== one));
  await run(`acknowledge ${one}`);
  await run(`snooze ${three} --until 4h`);
  expect(await listed(' --status acknowledged')).toEqual([one]);
  expect(await listed(' --status snoozed')).toEqual([three]);
  expect(await listed()).not.toContain(three);
  expect(await run(`unacknowledge ${one} ${three}`)).toBe(`changed  ${one}, ${three}\n`);
  expect(await listed(' --status new')).toEqual(newestFirst());
  const told = await entries();
  expect(told.map(({ action_type }) => action_type)).toEqual([
    'ticket_assigned',
    'ticket_assigned',
    'ticket_assigned',
    'ticket_acknowledged',
    'ticket_acknowledged',
    'ticket_unacknowledged',
    'ticket_unacknowledged',
  ]);
  expect(told.every(({ properties }) => properties['actor'] === 'command line')).toBe(true);
});

test('the list is filtered by severity, connection and number, and says when it is not whole', async () => {
  const other = await store.connection(account);
  const [added = 0] = await addTickets(store, account, { connections: [other], count: 1 });
  expect(await listed(` --connection ${other}`)).toEqual([added]);
  expect(await listed(` --connection ${connection}`)).toEqual(newestFirst());
  const all = await json<PrintedTicket[]>('list');
  for (const severity of ['critical', 'warning', 'info']) {
    const of = all.filter((ticket) => ticket.severity === severity).map(({ id }) => id);
    expect(await listed(` --severity ${severity}`)).toEqual(of);
  }
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  expect((await run('list --limit 2')).split('\n')).toHaveLength(4);
  expect(said.mock.calls).toEqual([['2 of 5 tickets: give --limit or a filter for others.\n']]);
  said.mockRestore();
});

test('text of a hostile server stays one cell of the table, and is whole in JSON', async () => {
  const [id = 0] = ids;
  const hostile = 'public.\u001b[2Jowned\r\n9 critical\u202egnp\u0007';
  // The service itself would store it cleaned.
  const superuser = await store.superuser('store');
  await superuser.query(
    'update ticket set object = $3, title = $3, metric_line = $3 where account_id = $1 and ticket_id = $2',
    [account, id, hostile],
  );
  await store.writer.query('update connection set name = $2 where account_id = $1', [account, hostile]);
  const table = await run('list');
  expect(table.split('\n')).toHaveLength(ids.length + 2);
  expect(table.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(table).toContain('public. [2Jowned 9 critical gnp');
  expect((await json<PrintedTicket[]>('list')).find((ticket) => ticket.id === id)?.object).toBe(hostile);
});

test('a comment mentions members and is cleaned', async () => {
  const [id = 0] = ids;
  const comment = await json<Record<string, unknown>>(`comment ${id} --text see_\u001b[31mthis,_@Ben`);
  expect(comment).toMatchObject({
    ticket_id: id,
    author_id: null,
    author: 'command line',
    body: 'see [31mthis, @Ben',
    mentions: ['Ben'],
  });
  expect(await entries()).toMatchObject([
    { action_type: 'ticket_commented', properties: { comment_id: comment['id'], actor: 'command line' } },
  ]);
  await expect(run(`comment ${id} --text _`)).rejects.toThrow('Enter a comment of 1 to 4,000 characters.');
});

test('tickets, connections and members of another account do not exist, and nothing is changed beside them', async () => {
  const theirs = await store.account();
  const eve = await memberIn(theirs, 'Eve');
  const paul = await memberIn(account, 'Paul', 'suspended');
  const [id = 0] = ids;
  const [foreign = 0] = await addTickets(store, theirs, {
    connections: [await store.connection(theirs)],
    count: 1,
  });
  const unknown = `Account ${account} has no such member: give an id or e-mail address of "member list", or nobody.`;
  for (const [line, message] of [
    [
      `acknowledge ${foreign}`,
      `Account ${account} has no ticket ${foreign}: see "ticket list --status all".`,
    ],
    [
      `acknowledge ${id} ${foreign}`,
      `Account ${account} does not have all of these tickets: see "ticket list --status all".`,
    ],
    [`comment ${foreign} --text mine`, `Account ${account} has no ticket ${foreign}: see`],
    [`assign ${id} --to ${eve}`, unknown],
    [`assign ${id} --to Eve.${theirs}@example.com`, unknown],
    [`assign ${id} --to 1'--`, unknown],
    [`list --assignee ${eve}`, unknown],
    [`assign ${id} --to ${paul}`, 'Choose an active member of the account.'],
    [`list --connection ${await store.connection(theirs)}`, 'There is no connection'],
  ] as const) {
    await expect(run(line), line).rejects.toThrow(message);
  }
  expect(await listed(' --status new')).toEqual(newestFirst());
  expect(await entries()).toEqual([]);
});

test('a resolved ticket refuses the whole change', async () => {
  const [one = 0, two = 0] = ids;
  await store.writer.query(
    `update ticket set status = 'resolved', resolved_at = now() where account_id = $1 and ticket_id = $2`,
    [account, two],
  );
  await expect(run(`acknowledge ${one} ${two}`)).rejects.toThrow(
    `Ticket ${two} is resolved: give open tickets only.`,
  );
  expect(await listed(' --status acknowledged')).toEqual([]);
  expect(await listed(' --status resolved')).toEqual([two]);
  expect(await entries()).toEqual([]);
});
