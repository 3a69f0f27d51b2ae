import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { changeAccount } from '../../src/activity/record-entry.ts';
import { addDestination } from '../../src/notifications/destinations/add-destination.ts';
import { PostgresServer } from '../../test/checks/postgres-server.ts';
import { freePort } from '../../test/contract/free-port.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import type { Figure } from '../one-run.ts';
import { startProgram, stopProgram } from '../start-program.ts';
import { addConnections, makeRoom } from './add-connections.ts';

const CONNECTIONS = 20;
/** The defaults of PG_BLOCKED_SESSIONS. */
const WARNING_S = 30;
const BLOCKED_WITHIN_S = 20;
const TOLD_WITHIN_S = 30;
const RESOLVED_WITHIN_S = 60;

/** A message as the webhook's receiver got it. */
interface Told {
  /** Unix milliseconds. */
  at: number;
  kind: string;
  connection: number;
  check: string;
}

/** Measures from a fault to the message at a receiver, with defaults, and from its end to `resolved`, for 20 connections. */
export async function measureTold(figure: Figure): Promise<void> {
  const [store, server, receiver] = await Promise.all([
    startTestStore(),
    PostgresServer.start(),
    startReceiver(),
  ]);
  await watch(store, server, receiver.url);
  const service = startProgram(store, 'serve', {
    PORT: String(await freePort()),
    DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
    LOG_LEVEL: 'error',
  });
  const { told } = receiver;
  const tell = (what: string, seconds: readonly number[], limit: number) =>
    report(what, seconds, limit, figure);
  try {
    console.log(`${CONNECTIONS} connections with defaults, a webhook`);
    await wait(60_000); // the first runs, and pulses
    const holder = await server.open();
    await holder.query('begin; lock table held');
    const waiter = await server.open();
    const waits = waiter.query('select from held');
    const blocked = await toldOf(told, 'PG_BLOCKED_SESSIONS', Date.now(), WARNING_S + 60);
    tell(
      `blocked to told, beyond ${WARNING_S} s`,
      blocked.map((s) => s - WARNING_S),
      BLOCKED_WITHIN_S,
    );
    await holder.query('rollback');
    const over = Date.now();
    await waits;
    await waiter.end();
    await holder.end();
    tell('no longer blocked to resolved', await resolvedOf(told, over), RESOLVED_WITHIN_S);

    await wait(60_000); // a run that a pulse asks for comes at most once a minute
    const sessions = await saturate(server);
    tell(
      'connections used up to told',
      await toldOf(told, 'PG_CONN_SATURATION', Date.now(), 90),
      TOLD_WITHIN_S,
    );
    await Promise.all(sessions.map((session) => session.end()));
    tell('free again to resolved', await resolvedOf(told, Date.now()), RESOLVED_WITHIN_S);

    await wait(60_000);
    await server.pause();
    tell('gone to told', await toldOf(told, 'CONN_UNREACHABLE', Date.now(), 90), TOLD_WITHIN_S);
    await server.resume();
    tell('back to resolved', await resolvedOf(told, Date.now()), RESOLVED_WITHIN_S);
  } finally {
    await stopProgram(service);
    receiver.close();
    await Promise.all([store.stop(), server.stop()]);
  }
}

async function watch(store: TestStore, server: PostgresServer, url: string): Promise<void> {
  await makeRoom(server, CONNECTIONS);
  const accountId = await addConnections(store, server, { count: CONNECTIONS, checks: 'due' });
  await server.run('create table held (id int)');
  const kinds = ['ops.ticket_created', 'ops.ticket_resolved'] as const;
  await changeAccount(store.writer, accountId, (change) =>
    addDestination(
      change,
      store.deps.secret,
      { allowPrivate: true },
      { name: 'Receiver', channel: 'webhook', url, kinds },
    ),
  );
}

interface Body {
  event: string;
  data: { connection_id: number; check_id?: string };
}

async function startReceiver(): Promise<{ url: string; told: Told[]; close(): void }> {
  const told: Told[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.once('end', () => {
      const { event, data }: Body = JSON.parse(text);
      told.push({ at: Date.now(), kind: event, connection: data.connection_id, check: data.check_id ?? '' });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, told, close: () => server.close() };
}

const isOf = (told: Told, check: string, since: number) =>
  told.kind === 'ops.ticket_created' && told.check === check && told.at >= since;

/** Seconds from `since` to the message of each connection; those that were not told within the limit have the limit. */
async function toldOf(told: readonly Told[], check: string, since: number, most: number): Promise<number[]> {
  return collect(() => told.filter((one) => isOf(one, check, since)), since, most);
}

/** The same for the message that it is over: the payload names no check, so it is the first after `since`. */
async function resolvedOf(told: readonly Told[], since: number): Promise<number[]> {
  return collect(
    () => told.filter(({ kind, at }) => kind === 'ops.ticket_resolved' && at >= since),
    since,
    2 * RESOLVED_WITHIN_S,
  );
}

async function collect(find: () => Told[], since: number, most: number): Promise<number[]> {
  for (;;) {
    const first = new Map(
      find()
        .toReversed()
        .map(({ connection, at }) => [connection, (at - since) / 1_000]),
    );
    if (first.size === CONNECTIONS || Date.now() > since + most * 1_000)
      return [...first.values(), ...Array<number>(CONNECTIONS - first.size).fill(most)];
    await wait(200);
  }
}

/** Opens sessions until the server refuses more. */
async function saturate(server: PostgresServer): Promise<pg.Client[]> {
  const sessions: pg.Client[] = [];
  for (;;) {
    const session = await server.open('app').catch(() => null);
    if (session === null) return sessions;
    sessions.push(session);
  }
}

function report(what: string, seconds: readonly number[], limit: number, figure: Figure): void {
  const sorted = seconds.toSorted((a, b) => a - b);
  figure(`${what}, median`, sorted[Math.floor(sorted.length / 2)] ?? 0, 's');
  figure(`${what}, p95`, sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0, 's', limit);
}
