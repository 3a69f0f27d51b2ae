import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { commandJson } from '../contract/command.ts';
import { fixtureJson } from '../contract/fixture-command.ts';
import { type Environment, type Process, startProcess, startService } from '../contract/running-service.ts';
import { LocalReceiver } from '../receivers/local-receiver.ts';
import { type TestStore, WATCHER_PASSWORD } from '../support/store.ts';
import { addAccount } from './cell-accounts.ts';
import { startTwoCells, type TwoCells } from './two-cells.ts';

let cells: TwoCells;
let environment: Environment;
const processes: Process[] = [];
const receivers: LocalReceiver[] = [];

beforeAll(async () => {
  cells = await startTwoCells();
  environment = { ...cells.environment, DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes' };
});

afterEach(async () => {
  await Promise.all(processes.splice(0).map((process) => process.stop()));
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
});

afterAll(() => cells.stop());

/** An account of a cell that watches a database, and the receiver of its events. */
interface Watching {
  store: TestStore;
  id: number;
  connectionId: number;
  receiver: LocalReceiver;
  secret: string;
}

async function addWatching(cell: number): Promise<Watching> {
  const { id } = await addAccount(environment, cell);
  const receiver = await LocalReceiver.start();
  receivers.push(receiver);
  const { signing_secret } = await commandJson<{ signing_secret: string }>(
    ['destination', 'add', '--account', String(id), '--name', 'Hooks', '--channel', 'webhook', '--url-stdin'],
    { environment, input: `${receiver.url}/hook\n` },
  );
  const store = cell === 1 ? cells.first : cells.second;
  const [{ host = '' } = {}] = store.address;
  const url = `postgres://watcher:${WATCHER_PASSWORD}@${encodeURIComponent(host)}/postgres`;
  const named = ['--account', String(id), '--name', `watched by cell ${cell}`, '--tls', 'disable'];
  // A finding in any case.
  const threshold = ['--threshold', 'PG_SHARED_BUFFERS_LOW.warning_bytes=999999999999'];
  const { id: connectionId } = await fixtureJson<{ id: number }>(
    ['connection', 'add', ...named, '--url', url, '--every', '1h', ...threshold],
    environment,
  );
  return { store, id, connectionId, receiver, secret: signing_secret };
}

const selectEvents = `
  select e.event_id, e.kind
    from event e join delivery d on d.account_id = e.account_id and d.event_id = e.event_id
   where e.account_id = $1 and d.state = 'accepted'
   order by e.event_id collate "C"`;

async function expectOwnEvents({ store, id, connectionId, receiver, secret }: Watching, other: TestStore) {
  const checks = 'select account_id, connection_id from health_check where account_id = $1';
  const accepted = async () => (await store.writer.query(selectEvents, [id])).rows;
  const waiting = `select from delivery where account_id = $1 and state <> 'accepted'`;
  await expect.poll(accepted).not.toEqual([]);
  const isWaiting = async () => (await store.writer.query(waiting, [id])).rowCount;
  await expect.poll(isWaiting).toBe(0);
  // What would be sent twice comes meanwhile.
  await wait(2_000);
  expect((await store.writer.query(checks, [id])).rows).toEqual([
    { account_id: id, connection_id: connectionId },
  ]);
  for (const table of ['health_check', 'ticket', 'event', 'delivery', 'activity'])
    expect(
      (await other.writer.query(`select from ${table} where account_id = $1`, [id])).rowCount,
      table,
    ).toBe(0);
  const got = receiver.received.map(({ body, headers }) => {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    const { event, data }: { event: string; data: object } = JSON.parse(body);
    expect(data).toMatchObject({ connection_id: connectionId });
    return { event_id: headers['webhook-id'], kind: event };
  });
  expect(got.toSorted((a, b) => (String(a.event_id) < String(b.event_id) ? -1 : 1))).toEqual(
    await accepted(),
  );
  expect(got.map(({ kind }) => kind)).toContain('ops.ticket_created');
  const { rows: tickets } = await store.writer.query(
    `select from ticket where account_id = $1 and check_id = 'PG_SHARED_BUFFERS_LOW'`,
    [id],
  );
  expect(tickets).toHaveLength(1);
}

async function expectEachCellNotifies(): Promise<void> {
  const [one, two] = [await addWatching(1), await addWatching(2)];
  await expectOwnEvents(one, cells.second);
  await expectOwnEvents(two, cells.first);
}

test("a service's monitor checks the databases of both cells, and each account's receiver alone gets its events, once", async () => {
  processes.push(await startService(environment));
  await expectEachCellNotifies();
});

test('one process that only monitors checks both cells, and two services without monitor send each event once', async () => {
  processes.push(await startService(environment, ['--no-monitor']));
  processes.push(await startService(environment, ['--no-monitor']));
  const monitor = startProcess(['monitor'], environment);
  processes.push(monitor);
  await monitor.says(/(?:[\s\S]*?the monitor runs health checks that are due){2}/);
  await expectEachCellNotifies();
});
