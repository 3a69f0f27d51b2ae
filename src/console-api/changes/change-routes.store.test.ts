import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import type { NewChange } from '../../runs/changes/connection-change.ts';
import { storeChanges } from '../../runs/changes/store-changes.ts';
import { inTransaction } from '../../store/connect.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { ConnectionChanges, TicketChanges } from './change-schemas.ts';

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

const invalid = (parameter: string, message: string) => [400, 'invalid_parameter', message, parameter];
const notFound = [404, 'not_found', expect.any(String), undefined];
const HOUR = 3_600_000;
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR).toISOString();

async function ownerWithConnection() {
  const owner = await testConsole.owner();
  const connectionId = await store.connection(owner.accountId);
  const change = (at: string, subject: string, kind: NewChange['kind'] = 'setting') =>
    inTransaction(store.writer, (client) =>
      storeChanges(client, { accountId: owner.accountId, connectionId, at }, [
        { kind, database: '', subject, before: null, after: 'warning', source: null },
      ]),
    );
  return { ...owner, connectionId, change, path: `/connections/${connectionId}/changes` };
}

const insertTicket = `
  insert into ticket (account_id, connection_id, check_id, database, object, category, title, severity, status,
                      metric_line, remediation, first_seen_at, last_seen_at, resolved_at, resolution)
  values ($1, $2, 'PG_TEST', '', null, 'schema', 'Test', 'warning', $4, '', '', $3::timestamptz, $3,
          case when $4 = 'resolved' then $3::timestamptz end, case when $4 = 'resolved' then 'no longer found' end)
  returning ticket_id as id`;

async function ticketAt(
  accountId: number,
  connectionId: number,
  at: string,
  status: string,
): Promise<number> {
  const { rows } = await store.writer.query(insertTicket, [accountId, connectionId, at, status]);
  return rows[0].id;
}

const subjects = ({ changes }: { changes: { subject: string }[] }) => changes.map(({ subject }) => subject);

test('changes are listed newest first, page by page, also those of one microsecond', async () => {
  const { change, path, read } = await ownerWithConnection();
  const at = `${hoursAgo(5).slice(0, -1)}123Z`;
  for (const subject of ['a', 'b', 'c']) await change(at, subject);
  await change(hoursAgo(3), 'd', 'index');
  const pages: string[][] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: ConnectionChanges = await read(`${path}?limit=2${next && `&before=${next}`}`);
    pages.push(subjects(page));
    next = page.next;
  }
  expect(pages).toEqual([
    ['d', 'c'],
    ['b', 'a'],
  ]);
  expect(subjects(await read(`${path}?kinds=index,table`))).toEqual(['d']);
  expect(subjects(await read(`${path}?from=${hoursAgo(4)}&to=${hoursAgo(2)}`))).toEqual(['d']);
  const [last, first] = (await read<ConnectionChanges>(path)).changes;
  expect(subjects(await read(`${path}?from=${first?.at}&to=${first?.at}`))).toEqual(['c', 'b', 'a']);
  expect(last).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(/Z$/),
    kind: 'index',
    database: '',
    subject: 'd',
    before: null,
    after: 'warning',
    source: null,
  });
});

test('a wrong page, limit or kind gets a sentence, and another account nothing', async () => {
  const { path, refused } = await ownerWithConnection();
  const before = invalid('before', 'before must be the next of a page of changes.');
  expect(await refused(`${path}?before=7`)).toEqual(before);
  expect(await refused(`${path}?before=2026-13-01T00:00:00.000000Z_7`)).toEqual(before);
  expect(await refused(`${path}?limit=0`)).toEqual(
    invalid('limit', 'limit must be a whole number, 1 to 200.'),
  );
  expect(await refused(`${path}?kinds=A`)).toEqual(
    invalid('kinds', 'kinds must be 1 to 20 kinds of changes, separated by commas, such as setting,index.'),
  );
  const other = await ownerWithConnection();
  expect(await other.refused(path)).toEqual(notFound);
});

test.each(['open', 'resolved'])(
  'a ticket that is %s lists what changed in the 24 hours before',
  async (status) => {
    const { accountId, connectionId, change, read } = await ownerWithConnection();
    const opened = `${hoursAgo(30).slice(0, -1)}456Z`;
    await change(hoursAgo(55), 'too early');
    await change(hoursAgo(53), 'a day before');
    await change(opened, 'Test', 'finding'); // this ticket itself
    await change(opened, 'Another', 'finding');
    await change(opened, 'of the same run');
    await change(hoursAgo(29), 'too late');
    const id = await ticketAt(accountId, connectionId, opened, status);
    const answer = await read<TicketChanges>(`/tickets/${id}/changes`);
    expect(subjects(answer)).toEqual(['of the same run', 'Another', 'a day before']);
    expect([answer.more, Date.parse(answer.to) - Date.parse(answer.from)]).toEqual([false, 24 * HOUR]);
    const other = await testConsole.owner();
    expect(await other.refused(`/tickets/${id}/changes`)).toEqual(notFound);
  },
);

test('a ticket after many changes says that there are more', async () => {
  const { accountId, connectionId, change, read } = await ownerWithConnection();
  const id = await ticketAt(accountId, connectionId, hoursAgo(1), 'open');
  for (let n = 0; n < 100; n++) await change(hoursAgo(2), `${n}`);
  const count = async () => {
    const { changes, more } = await read<TicketChanges>(`/tickets/${id}/changes`);
    return [changes.length, more];
  };
  expect(await count()).toEqual([100, false]);
  await change(hoursAgo(2), 'one more');
  expect(await count()).toEqual([100, true]);
});
