import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeAlerts } from '../../test/support/console-alerts.ts';
import { CONSOLE_BODIES } from '../../test/support/console-bodies.ts';
import { CONSOLE_CHANGES } from '../../test/support/console-changes.ts';
import { writeDeliveries } from '../../test/support/console-deliveries.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { issueKey } from '../accounts/keys/issue-key.ts';
import { changeAccount } from '../activity/record-entry.ts';
import { openTestConsole, type TestConsole } from './console-fixture.ts';

let store: TestStore;
let app: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

/** Values in the place of another one: of another type, and such as the store can not keep. */
const ODD: readonly unknown[] = [1e300, 2 ** 53, 'a\u0000b', '\ud800', null, [], {}, ['x', 1e300]];

/** The body with each of its values, also those inside others, replaced by each odd one. */
function* oddBodies(body: unknown): Generator<unknown> {
  yield* ODD;
  if (typeof body !== 'object' || body === null) return;
  for (const [name, value] of Object.entries(body)) {
    for (const odd of oddBodies(value))
      yield Array.isArray(body)
        ? body.map((each, place) => (String(place) === name ? odd : each))
        : { ...body, [name]: odd };
  }
}

const insertSilence = `
  insert into silence (account_id, connection_id, check_id, reason, note, created_at)
  values ($1, $2, 'PG_VERSION_EOL', 'accepted_risk', 'until the move', now())`;
const insertTicket = `
  insert into ticket (account_id, connection_id, check_id, category, title, severity, status, metric_line, remediation,
                      first_seen_at, last_seen_at)
  values ($1, $2, 'PG_TEST', 'schema', 'A title', 'warning', 'open', '', '', now(), now())`;
// One view of the member alone, or one of all.
const insertView = `
  insert into saved_view (account_id, page, name, query, created_by, created_at, member_id)
  select $1, 'fleet', 'Ours', '', 'Ada', now(), case when $2 then max(member_id) end from member where account_id = $1`;

/** A row of each kind that a body or a path names. */
async function fill(accountId: number, isOwnView: boolean): Promise<void> {
  const { writer } = store;
  const connectionId = await store.connection(accountId);
  await writeAlerts(writer, { accountId, connectionId });
  await writeDeliveries(writer, accountId);
  for (const insert of [insertSilence, insertTicket]) await writer.query(insert, [accountId, connectionId]);
  await writer.query(insertView, [accountId, isOwnView]);
  await changeAccount(writer, accountId, ({ client, at }) =>
    issueKey(client, { accountId, at }, { name: 'suite', lifetime: null }),
  );
}

/** The id of a row that the owner's account has, so that the change gets as far as the store. */
async function findId(select: string, accountId: number): Promise<number> {
  const { rows } = await store.writer.query<{ id: number | null }>(select, [accountId]);
  const { id = null } = rows[0] ?? {};
  if (id === null) throw new Error('The account has no such row.');
  return id;
}

const CASES = [
  ...CONSOLE_BODIES,
  ...CONSOLE_CHANGES.flatMap(([route, select, body]): typeof CONSOLE_BODIES =>
    body ? [[route, select, () => body]] : [],
  ),
];

test.each(CASES)('%s is answered, whatever its body has in place of a value', async (route, select, body) => {
  app = await openTestConsole(store); // each has a budget of its own
  const owner = await app.owner();
  const [method, path = ''] = route.split(' ');
  await fill(owner.accountId, path.startsWith('/views'));
  const id = await findId(select, owner.accountId);
  const failed: unknown[] = [];
  for (const odd of oddBodies(body(id))) {
    if (typeof odd !== 'object' || odd === null) continue; // the parser refuses it
    const [status] = await owner.send(method as 'POST', path.replace(':id', String(id)), odd);
    if (status >= 500) failed.push([status, JSON.stringify(odd).slice(0, 300)]);
  }
  await app.close();
  expect(failed).toEqual([]);
});
