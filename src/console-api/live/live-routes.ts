import { PassThrough, Readable } from 'node:stream';
import type { ConnectionKey, MonitorDeps } from '../../monitor/monitor-deps.ts';
import { blockingRoots } from '../../monitor/pulse/blocking-roots.ts';
import { openLiveLook } from '../../monitor/pulse/live-look.ts';
import type { PulseReading } from '../../monitor/pulse/reading/pulse-reading.ts';
import { drawTree } from '../../monitor/pulse/track-episodes.ts';
import { notFound } from '../../platform/rejection.ts';
import { endRoot } from '../../runs/episodes/end-root.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { ConcurrencyLimit } from '../concurrency-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { throwReadable } from '../unreadable-connection.ts';
import type { LiveEvent, LiveReading } from './live-schemas.ts';
import { isEnding, type Looked, SharedLook } from './shared-look.ts';

/** Servers that members of this service watch at the same time; each takes a child process. */
const places = new ConcurrencyLimit({ ofAll: 20, ofAccount: 4 }, 'Too many servers are watched live', 10);

/** Bytes of events that a browser has not read. */
const MOST_UNREAD = 1_000_000;

/** By account and connection. One process handles all console requests of a service, so all looks are here. */
const looks = new Map<string, Promise<SharedLook>>();

/** The most chains that are shown: a hostile server could have thousands. */
const MOST_ROOTS = 50;

const selectConnection = `
  select c.engine, s.every is null as is_sample
    from connection c
    left join connection_schedule s using (account_id, connection_id)
   where c.account_id = $1 and c.connection_id = $2 and c.removed_at is null`;

const EVENTS = { type: 'text/event-stream', filename: null } as const;

const OF_SAMPLE: LiveEvent = { reading: null, reason: 'sample data has no server', ends: true };

const watchLive = consoleRoute({
  method: 'GET',
  path: '/connections/:id/live',
  permission: 'health:read',
  response: 'stream',
  cost: 2,
  async handler({ actor: { accountId }, id, parts, read, requireStill, store }) {
    const [connection] = await read((run) =>
      run<{ engine: Engine; is_sample: boolean }>(selectConnection, [accountId, id]),
    );
    if (!connection) throw notFound();
    if (connection.is_sample) return { ...EVENTS, stream: Readable.from([dataLine(OF_SAMPLE)]) };
    const { secret, allowPrivateTargets, tokenCommands, log, closing } = parts;
    const deps = { writer: store.writer, secret, allowPrivateTargets, tokenCommands, log };
    const shared = await openShared({ accountId, connectionId: id }, deps);
    const stream = new PassThrough();
    const leave = shared.watch((answer) => {
      if (answer === null) return void stream.end();
      // A browser that does not read gets the next one that it has room for.
      if (stream.writableLength > MOST_UNREAD) return;
      requireStill()
        .then(() => stream.writable && stream.write(eventText(connection.engine, answer)))
        .catch((error: Error) => stream.destroy(error));
    });
    const end = () => stream.end();
    closing.addEventListener('abort', end, { once: true });
    stream.once('close', () => {
      closing.removeEventListener('abort', end);
      leave();
    });
    return { ...EVENTS, stream };
  },
});

/** The look at a server that others watch already, or a new one. */
function openShared(connection: ConnectionKey, deps: MonitorDeps): Promise<SharedLook> {
  const key = `${connection.accountId}/${connection.connectionId}`;
  const known = looks.get(key);
  if (known) return known;
  const leave = places.enter(connection.accountId);
  const forget = () => {
    looks.delete(key);
    leave();
  };
  const opened = openLiveLook(deps, connection).then((live) => {
    if (!live) throw notFound();
    return new SharedLook(live, (error) => {
      forget();
      if (error !== null) deps.log.error({ ...connection, err: error }, 'a live look ended by an error');
    });
  }, throwReadable);
  looks.set(key, opened);
  opened.catch(forget);
  return opened;
}

function eventText(engine: Engine, answer: Looked): string {
  return dataLine(toEvent(engine, answer));
}

function dataLine(event: LiveEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function toEvent(engine: Engine, answer: Looked): LiveEvent {
  if ('failure' in answer) return { reading: null, reason: answer.failure.reason, ends: isEnding(answer) };
  return { reading: toReading(engine, answer.reading), reason: null, ends: false };
}

function toReading(engine: Engine, reading: PulseReading): LiveReading {
  const now = new Date();
  return {
    at: now.toISOString(),
    connections_used: reading.connections.used,
    connections_allowed: reading.connections.allowed,
    active: reading.active,
    idle_in_transaction: reading.idleInTransaction,
    oldest_transaction_seconds: reading.oldestTransaction,
    blocking: blockingRoots(reading)
      .slice(0, MOST_ROOTS)
      .map((root) => {
        const tree = drawTree(root, reading, now);
        return { tree, ends: endRoot(engine, { root: root.key, ended_at: null, trees: [tree] }) };
      }),
    sessions: reading.load,
  };
}

/** The route that shows what a server does now. */
export const liveRoutes: ConsoleRoute[] = [watchLive];
