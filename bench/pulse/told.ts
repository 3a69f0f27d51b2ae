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

/** A server, and what the receiver of its account was told. A fault has one of its own: a run that a pulse asks for comes at most once a minute. */
interface Scene {
  server: PostgresServer;
  receiver: Awaited<ReturnType<typeof startReceiver>>;
  count: number;
}

/** Measures from a fault to the message at a receiver, with defaults, and from its end to `resolved`, each for so many connections. */
export async function measureTold(figure: Figure, count = 20): Promise<void> {
  const store = await startTestStore();
  const scenes = await Promise.all(FAULTS.map(() => startScene(store, count)));
  const service = startProgram(store, 'serve', {
    PORT: String(await freePort()),
    DBVITALS_ALLOW_PRIVATE_DESTINATIONS: 'yes',
    LOG_LEVEL: 'error',
  });
  try {
    console.log(`${count} connections of each fault with defaults, a webhook`);
    await wait(60_000); // the first runs, and pulses
    await Promise.all(scenes.map((scene, n) => FAULTS[n]?.(scene, figure)));
  } finally {
    await stopProgram(service);
    for (const { receiver } of scenes) receiver.close();
    await Promise.all([store, ...scenes.map(({ server }) => server)].map((each) => each.stop()));
  }
}

const FAULTS = [block, saturate, interrupt];

async function block(scene: Scene, figure: Figure): Promise<void> {
  const holder = await scene.server.open();
  await holder.query('begin; lock table held');
  const waiter = await scene.server.open();
  const waits = waiter.query('select from held');
  const blocked = await toldOf(scene, 'PG_BLOCKED_SESSIONS', WARNING_S + 60);
  const beyond = blocked.map((s) => s - WARNING_S);
  report(`blocked to told, beyond ${WARNING_S} s`, beyond, BLOCKED_WITHIN_S, figure);
  await holder.query('rollback');
  report('no longer blocked to resolved', await resolvedOf(scene), RESOLVED_WITHIN_S, figure);
  await waits;
  await waiter.end();
  await holder.end();
}

async function saturate(scene: Scene, figure: Figure): Promise<void> {
  const sessions = await openAll(scene.server);
  report('connections used up to told', await toldOf(scene, 'PG_CONN_SATURATION', 90), TOLD_WITHIN_S, figure);
  await Promise.all(sessions.map((session) => session.end()));
  report('free again to resolved', await resolvedOf(scene), RESOLVED_WITHIN_S, figure);
}

async function interrupt(scene: Scene, figure: Figure): Promise<void> {
  await scene.server.pause();
  report('gone to told', await toldOf(scene, 'CONN_UNREACHABLE', 90), TOLD_WITHIN_S, figure);
  await scene.server.resume();
  report('back to resolved', await resolvedOf(scene), RESOLVED_WITHIN_S, figure);
}

async function startScene(store: TestStore, count: number): Promise<Scene> {
  const [server, receiver] = await Promise.all([PostgresServer.start(), startReceiver()]);
  await watch(store, server, receiver.url, count);
  return { server, receiver, count };
}

async function watch(store: TestStore, server: PostgresServer, url: string, count: number): Promise<void> {
  await makeRoom(server, count);
  const accountId = await addConnections(store, server, { count, checks: 'due' });
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

/** Seconds from now to the message of each connection; those that were not told within the limit have the limit. */
async function toldOf(scene: Scene, check: string, most: number): Promise<number[]> {
  const since = Date.now();
  return collect(scene, ({ told }) => told.filter((one) => isOf(one, check, since)), since, most);
}

/** The same for the message that it is over: the payload names no check, so it is the first from now on. */
async function resolvedOf(scene: Scene): Promise<number[]> {
  const since = Date.now();
  const find = ({ told }: Scene['receiver']) =>
    told.filter(({ kind, at }) => kind === 'ops.ticket_resolved' && at >= since);
  return collect(scene, find, since, 2 * RESOLVED_WITHIN_S);
}

async function collect(
  { receiver, count }: Scene,
  find: (receiver: Scene['receiver']) => Told[],
  since: number,
  most: number,
): Promise<number[]> {
  for (;;) {
    const first = new Map(
      find(receiver)
        .toReversed()
        .map(({ connection, at }) => [connection, (at - since) / 1_000]),
    );
    if (first.size === count || Date.now() > since + most * 1_000)
      return [...first.values(), ...Array<number>(count - first.size).fill(most)];
    await wait(200);
  }
}

/** Opens sessions until the server refuses more. */
async function openAll(server: PostgresServer): Promise<pg.Client[]> {
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
