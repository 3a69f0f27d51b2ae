import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { changeAccount } from '../src/activity/record-entry.ts';
import { secretKeys } from '../src/config/secret-key.ts';
import { addDestination } from '../src/notifications/destinations/add-destination.ts';
import { openPool } from '../src/store/connect.ts';
import { openStore } from '../src/store/open.ts';
import { type CheckoutContestant, checkoutContestant, costLine } from './checkout-contestant.ts';
import { compare } from './rounds.ts';
import { removeDataDirs, stopServers } from './servers.ts';

// What a log stream that is behind costs an answer of the API: `node bench/stream-cost.ts`. A service whose account has a stream to a
// receiver that is down, with a backlog that grows by each answer, against one without a stream, in alternating rounds. Prints the median of
// the rounds' ratios, and fails beyond 2 %. With `--up`, a third one whose receiver takes everything: that one works for each entry.

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    up: { type: 'boolean', default: false },
  },
});

let arrived = 0;
const receiver = createServer((request, response) => {
  const isDown = request.url === '/down';
  request.resume().once('end', () => {
    const { 'dbvitals-first-id': first, 'dbvitals-last-id': last } = request.headers;
    if (!isDown) arrived += Number(last) - Number(first) + 1;
    response.writeHead(isDown ? 503 : 204).end();
  });
});
await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

/** The most that a stream may cost an answer, as a share: docs/notifications/log-streams.md. */
const MOST = 0.02;

const none = await checkoutContestant('no stream', null);
const down = await checkoutContestant('a stream whose receiver is down', null);
await addStream(down, `${url}/down`);
const contestants = [none, down];
if (values.up) {
  const up = await checkoutContestant('a stream whose receiver takes everything', null);
  await addStream(up, `${url}/up`);
  contestants.push(up);
}
const standings = await compare(contestants, {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  connections: Number(values.connections),
});
for (const standing of standings) console.log(costLine(standing));
const [, ...costs] = standings.map(({ name, thrift }) => ({ name, more: 1 / thrift - 1 }));
for (const { name, more } of costs)
  console.log(`${name}: ${(100 * more).toFixed(1)} % more processor time an answer`);
if ((costs[0]?.more ?? 1) > MOST) process.exitCode = 1;
console.log(`${arrived} entries arrived`);
await stopServers();
removeDataDirs();
receiver.close();

async function addStream({ dataDir, accountId }: CheckoutContestant, to: string): Promise<void> {
  const store = await openStore({ databaseUrl: null, dataDir }, () => {}, 'migrate');
  const writer = openPool(store.address, 'writer', { max: 1 });
  const secret = secretKeys({ givenSecret: null, dataDir });
  const wanted = { name: 'SIEM', channel: 'log_http' as const, url: to, stream: { fromId: 1 } };
  await changeAccount(writer, accountId, (change) =>
    addDestination(change, secret, { allowPrivate: true }, wanted),
  );
  // As after half an hour: the next attempt is due soon, and the one after it five minutes later.
  if (to.endsWith('/down'))
    await writer.query("update log_stream set attempts = 9, due_at = now() + interval '20 s'");
  await writer.end();
  await store.close();
}
