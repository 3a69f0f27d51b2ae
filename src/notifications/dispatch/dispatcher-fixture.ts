import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import { PATIENCE_MS } from '../../../test/support/patience.ts';
import type { TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { openPool } from '../../store/connect.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { FORMATS } from '../channels/formats.ts';
import { addDestination } from '../destinations/add-destination.ts';
import type { NewDestination } from '../destinations/destination-input.ts';
import type { NewEvent } from '../event.ts';
import { queueEvents } from '../outbox/queue-events.ts';
import type { Send } from '../sending/outgoing.ts';
import { startSender } from '../sending/send-in-child.ts';
import { startDispatcher } from './start-dispatcher.ts';

/** A request that a receiver got. */
export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

/** A receiver on this machine. `answer` decides the status by the path, at once or later; 0 = it never answers. */
export async function startReceiver(
  answer: (request: ReceivedRequest) => number | Promise<number> = () => 200,
  say: (request: ReceivedRequest, status: number) => string = (_, status) => `said ${status}`,
) {
  const got: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const received = { path: request.url ?? '', headers: request.headers, body, at: Date.now() };
    got.push(received);
    const status = await answer(received);
    if (status > 0) response.writeHead(status, { 'content-type': 'text/plain' }).end(say(received, status));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    got,
    /** The requests for a path, once there are `count`. */
    async requests(path: string, count: number, ms = PATIENCE_MS): Promise<ReceivedRequest[]> {
      for (const until = Date.now() + ms; Date.now() < until; await wait(20)) {
        const found = got.filter((request) => request.path === path);
        if (found.length >= count) return found;
      }
      throw new Error(`${path} got ${got.filter((request) => request.path === path).length}, not ${count}.`);
    },
    /** Ends requests that get no answer. */
    breakOff: () => server.closeAllConnections(),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs a dispatcher with a sending child of its own, or `send`, on the test's store, as a process of the service does. */
export function runDispatcher(store: TestStore, send?: Send): Rounds {
  const writer = openPool(store.address, 'writer', { max: 4 });
  const log = pino({ level: 'silent' });
  const sender = startSender({ allowPrivate: true, smtpUrl: null, mailFrom: null, log });
  const dispatcher = startDispatcher({
    writer,
    secret: store.deps.secret,
    send: send ?? sender.send,
    log: store.deps.log,
    formats: FORMATS,
    consoleUrl: () => 'https://dbvitals.example.com',
    measure: { attempted: () => {}, ended: () => {} },
  });
  return {
    async stop() {
      await dispatcher.stop();
      await sender.stop();
      await writer.end();
    },
  };
}

/** Adds a destination of an account. */
export async function addTo(store: TestStore, accountId: number, wanted: NewDestination): Promise<number> {
  const { destination } = await changeAccount(store.writer, accountId, (change) =>
    addDestination(change, store.deps.secret, { allowPrivate: true }, wanted),
  );
  return destination.id;
}

/** An event of an alert, or of another kind. */
export function newEvent(given: Partial<NewEvent> = {}): NewEvent {
  return {
    kind: 'alert.triggered',
    severity: 'warning',
    connection: null,
    data: { title: 'Score below 50' },
    details: {
      connection: null,
      title: 'Score below 50',
      check_id: null,
      database: '',
      object: null,
      metric_line: null,
      measured: null,
      since: null,
      remediation: null,
      resolution: null,
      page: PAGE_LINKS.alert(7),
    },
    ...given,
  };
}

/** Queues events of an account. */
export function queue(store: TestStore, accountId: number, events: readonly NewEvent[]): Promise<void> {
  return changeAccount(store.writer, accountId, ({ client, at }) =>
    queueEvents(client, { accountId, at }, events),
  );
}

/** The rows of a statement. */
export async function rowsOf<Row extends object>(
  store: TestStore,
  text: string,
  values: unknown[],
): Promise<Row[]> {
  return (await store.writer.query<Row>(text, values)).rows;
}

/** The first row of a statement, once it has one. */
export async function firstRow<Row extends object>(
  store: TestStore,
  text: string,
  values: unknown[],
): Promise<Row> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await wait(20)) {
    const [row] = await rowsOf<Row>(store, text, values);
    if (row) return row;
  }
  throw new Error(`No row: ${text}`);
}
