import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeAlerts } from '../../test/support/console-alerts.ts';
import { CONSOLE_BODIES } from '../../test/support/console-bodies.ts';
import { CONSOLE_CHANGES } from '../../test/support/console-changes.ts';
import { writeDeliveries } from '../../test/support/console-deliveries.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
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

const idOf = async (select: string, accountId: number) =>
  Number((await store.writer.query<{ id: number | null }>(select, [accountId])).rows[0]?.id ?? 1);

const CASES = [
  ...CONSOLE_BODIES,
  ...CONSOLE_CHANGES.flatMap(([route, select, body]): typeof CONSOLE_BODIES =>
    body ? [[route, select, () => body]] : [],
  ),
];

test.each(CASES)('%s is answered, whatever its body has in place of a value', async (route, select, body) => {
  app = await openTestConsole(store); // each has a budget of its own
  const owner = await app.owner();
  const connectionId = await store.connection(owner.accountId);
  await writeAlerts(store.writer, { accountId: owner.accountId, connectionId });
  await writeDeliveries(store.writer, owner.accountId);
  const id = await idOf(select, owner.accountId);
  const [method, path = ''] = route.split(' ');
  const failed: unknown[] = [];
  for (const odd of oddBodies(body(id))) {
    if (typeof odd !== 'object' || odd === null) continue; // the parser refuses it
    const [status] = await owner.send(method as 'POST', path.replace(':id', String(id)), odd);
    if (status >= 500) failed.push([status, JSON.stringify(odd).slice(0, 300)]);
  }
  await app.close();
  expect(failed).toEqual([]);
});
