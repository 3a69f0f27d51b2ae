import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { changeAccount } from '../src/activity/record-entry.ts';
import { EVENT_EXAMPLES } from '../src/api/openapi/event-examples.ts';
import { secretKeys } from '../src/config/secret-key.ts';
import { addDestination } from '../src/notifications/destinations/add-destination.ts';
import { queueEvents } from '../src/notifications/outbox/queue-events.ts';
import { openPool } from '../src/store/connect.ts';
import { openStore } from '../src/store/open.ts';
import { PAGE_LINKS } from '../src/vocabulary/page-paths.ts';
import { type CheckoutContestant, checkoutContestant, costLine } from './checkout-contestant.ts';
import { type Contestant, compare } from './rounds.ts';
import { removeDataDirs, stopServers } from './servers.ts';

// What notifications cost an answer of the API: `node bench/notify-cost.ts [--base CHECKOUT]`. A service whose account has 10 active
// destinations, which get 10 deliveries a second, against one without a destination, and against one of another checkout. Alternating rounds.

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
  },
});

const DESTINATIONS = 10;
let arrived = 0;
const receiver = createServer((request, response) => {
  request.resume().once('end', () => {
    arrived += 1;
    response.writeHead(204).end();
  });
});
await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

const contestants: Contestant[] = [];
if (values.base !== undefined) contestants.push(await checkoutContestant('before', resolve(values.base)));
contestants.push(await checkoutContestant('no destination', null));
const watched = await checkoutContestant(`${DESTINATIONS} active destinations`, null);
contestants.push(watched);
const stopEvents = await sendEvents(watched);

const standings = await compare(contestants, {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
});
for (const standing of standings) console.log(costLine(standing));
console.log(`${arrived} deliveries arrived`);
await stopEvents();
await stopServers();
removeDataDirs();
receiver.close();

/** Adds the destinations, and queues an event for all of them each second. Returns a function that ends it. */
async function sendEvents({ dataDir, accountId }: CheckoutContestant): Promise<() => Promise<void>> {
  const store = await openStore({ databaseUrl: null, dataDir }, () => {}, 'migrate');
  const writer = openPool(store.address, 'writer', { max: 1 });
  const secret = secretKeys({ givenSecret: null, dataDir });
  for (let n = 1; n <= DESTINATIONS; n++) {
    const wanted = {
      name: `Receiver ${n}`,
      channel: 'webhook',
      url,
      kinds: ['health_check.completed'],
    } as const;
    await changeAccount(writer, accountId, (change) =>
      addDestination(change, secret, { allowPrivate: true }, wanted),
    );
  }
  const data = { ...EVENT_EXAMPLES['health_check.completed']?.data };
  const details = {
    connection: null,
    title: 'Score 74',
    check_id: null,
    database: '',
    object: null,
    metric_line: null,
    measured: null,
    since: null,
    remediation: null,
    resolution: null,
    page: PAGE_LINKS.connection(2),
  };
  const event = {
    kind: 'health_check.completed',
    severity: 'warning',
    connection: null,
    data,
    details,
  } as const;
  const timer = setInterval(() => {
    changeAccount(writer, accountId, ({ client, at }) =>
      queueEvents(client, { accountId, at }, [event]),
    ).catch((error) => console.error(error));
  }, 1_000);
  return async () => {
    clearInterval(timer);
    await writer.end();
    await store.close();
  };
}
