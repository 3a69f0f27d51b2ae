import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { changeAccount } from '../src/activity/record-entry.ts';
import { secretKeys } from '../src/config/secret-key.ts';
import { openPool } from '../src/database/connect.ts';
import { openStore } from '../src/database/open.ts';
import { addDestination } from '../src/notifications/destinations/add-destination.ts';
import { queueEvents } from '../src/notifications/outbox/queue-events.ts';
import { EVENT_EXAMPLES } from '../src/vocabulary/events/event-examples.ts';
import { postgresOf } from './cost.ts';
import { ENDPOINT_ONE, inTurn, messages } from './mixes.ts';
import { type Contestant, compare } from './rounds.ts';
import { seedAccounts } from './seed.ts';
import { makeDataDir, removeDataDirs, startService, stopServers } from './servers.ts';

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
if (values.base !== undefined) contestants.push(await contestantOf('before', resolve(values.base)));
contestants.push(await contestantOf('no destination', null));
const watched = await contestantOf(`${DESTINATIONS} active destinations`, null);
contestants.push(watched);
const stopEvents = await sendEvents(watched);

const standings = await compare(contestants, {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
});
for (const { name, rate, cpu, p99 } of standings) {
  const [node, postgres] = cpu;
  console.log(
    `${name}: ${node.toFixed(1)} µs of Node and ${postgres.toFixed(1)} µs of PostgreSQL an answer; ${Math.round(rate)}/s, p99 ${p99.toFixed(1)} ms`,
  );
}
console.log(`${arrived} deliveries arrived`);
await stopEvents();
await stopServers();
removeDataDirs();
receiver.close();

interface Contender extends Contestant {
  dataDir: string;
  accountId: number;
}

/** A service with an account of 20 connections and 50 keys; `root` is another checkout. */
async function contestantOf(name: string, root: string | null): Promise<Contender> {
  const dataDir = makeDataDir();
  const seed: typeof seedAccounts =
    root === null ? seedAccounts : (await import(join(root, 'bench/seed.ts'))).seedAccounts;
  const [account = { id: 0, keys: [] }] = await seed(dataDir, 1);
  const server = await startService(dataDir, [], root === null ? undefined : join(root, 'src/dbvitals.ts'));
  const load = inTurn(messages(account.keys, [ENDPOINT_ONE]));
  return { name, server, postmaster: postgresOf(dataDir), load, dataDir, accountId: account.id };
}

/** Adds the destinations, and queues an event for all of them each second. Returns a function that ends it. */
async function sendEvents({ dataDir, accountId }: Contender): Promise<() => Promise<void>> {
  const store = await openStore({ databaseUrl: null, dataDir }, () => {}, 'make');
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
    ...{ connection: null, title: 'Score 74', check_id: null, database: '', object: null, metric_line: null },
    ...{ measured: null, since: null, remediation: null, resolution: null, page: '/connections/2' },
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
