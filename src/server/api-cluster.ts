import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { one } from '../database/one.ts';
import { FailedAuthentications } from '../http/failed-authentications.ts';
import { type Figures, lasting, sum } from '../telemetry/metrics.ts';
import type { ApiServer } from './api-server.ts';
import type { WorkerInstructions } from './api-worker.ts';
import { type ApiWorker, askFigures, hangUp, leave, renew, startApiWorker } from './api-worker-handle.ts';
import { listen } from './listen.ts';

// How long to wait before a worker is restarted: doubled while workers keep ending at once.
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

// Connections to the store: of a worker (api-server.ts), and of the rest of a service together with one command.
const CONNECTIONS_EACH = 4;
const CONNECTIONS_BESIDE = 20;

/** Throws when the store has too few connections for `count` workers. */
export async function checkRoom(writer: pg.Pool, count: number): Promise<void> {
  const { rows } = await writer.query<{ room: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as room`,
  );
  const { room } = one(rows, "read the store's limit of connections");
  const needed = CONNECTIONS_EACH * count + CONNECTIONS_BESIDE;
  if (needed <= room) return;
  throw new Error(
    `The store has ${room} connections and ${count} processes need ${needed}: raise its max_connections or give fewer --processes.`,
  );
}

/** Several API workers on one port. */
export interface ApiCluster extends ApiServer {
  /** The metrics of each worker, including those of workers that have ended. */
  figures(): Promise<Figures[]>;
}

/**
 * Answers requests in `count` worker processes. They listen on one port, and the kernel spreads connections over them. A
 * worker that ends is restarted. All workers drain when this process closes them, or dies. Throws when the port is taken.
 */
export async function startApiCluster(
  count: number,
  instructions: WorkerInstructions,
  log: FastifyBaseLogger,
): Promise<ApiCluster> {
  const { host, port: wanted } = instructions.settings;
  await listen(() => tryPort(host, wanted), wanted);

  const running = new Set<ApiWorker>();
  const closing = new AbortController();
  let leaving = false;
  let { tls } = instructions.settings;
  const failures = new FailedAuthentications();
  let past: Promise<Figures> = Promise.resolve([]);
  let asking: Promise<Figures[]> | null = null;

  function start(port: number): ApiWorker {
    const one = startApiWorker(
      { ...instructions, settings: { ...instructions.settings, port, tls } },
      failures,
    );
    running.add(one);
    if (leaving) leave(one);
    void one.ended.then(() => {
      running.delete(one);
      past = past.then((before) => sum([before, lasting(one.figures)]).getMetricsAsJSON());
    });
    return one;
  }

  /** Replaces `one` whenever it ends. */
  async function keep(one: ApiWorker, port: number): Promise<void> {
    let pause = SHORTEST_PAUSE_MS;
    for (let current = one; ; current = start(port)) {
      const began = Date.now();
      const reason = await current.ended;
      if (closing.signal.aborted) return;
      pause =
        Date.now() - began > LONGEST_PAUSE_MS ? SHORTEST_PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS);
      log.error({ process: current.child.pid, reason, again_ms: pause }, 'an API worker ended');
      await wait(pause, undefined, closing).catch(() => {});
      if (closing.signal.aborted) return;
    }
  }

  async function askAll(): Promise<Figures[]> {
    await Promise.all([...running].map(askFigures));
    const now = [...running].map(({ figures }) => figures);
    return [await past, ...now];
  }

  async function close(): Promise<void> {
    closing.abort();
    await Promise.all([...running].map(hangUp));
  }

  try {
    // With port 0 the first worker gets a free port, and the others share it.
    const first = start(wanted);
    const port = await first.listening;
    const all = [first, ...Array.from({ length: count - 1 }, () => start(port))];
    await Promise.all(all.map(({ listening }) => listening));
    for (const one of all) void keep(one, port);
    return {
      port,
      leave() {
        leaving = true;
        running.forEach(leave);
      },
      renew(renewed) {
        tls = renewed;
        for (const one of running) renew(one, renewed);
      },
      failing: () => [...running].some(({ storeFails }) => storeFails),
      close,
      figures() {
        // Scrapes at the same time share one answer.
        asking ??= askAll().finally(() => {
          asking = null;
        });
        return asking;
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Fails where the port is taken, by a process that shares its port too: the workers' own listen would succeed beside it. */
function tryPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(port, host, () => server.close(() => resolve()));
  });
}
