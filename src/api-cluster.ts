import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Answering } from './api-server.ts';
import type { Instructions } from './api-worker.ts';
import { askFigures, hangUp, leave, type ProcessApart, renew, startApart } from './api-worker-handle.ts';
import { FailedAuthentications } from './http/failed-authentications.ts';
import { listen } from './listen.ts';
import { type Figures, lasting, sum } from './metrics.ts';

// Pauses before a process that ended is started anew: doubled while it keeps ending at once.
const SHORTEST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

// Connections to the store: of a process that answers (answering.ts), and of all the rest of a service with a command.
const CONNECTIONS_EACH = 4;
const CONNECTIONS_BESIDE = 20;

/** Throws a sentence when the store has too few connections for so many processes. */
export async function checkRoom(writer: pg.Pool, count: number): Promise<void> {
  const { rows } = await writer.query<{ room: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as room`,
  );
  const room = rows[0]?.room ?? 0;
  const needed = CONNECTIONS_EACH * count + CONNECTIONS_BESIDE;
  if (needed <= room) return;
  throw new Error(
    `The store has ${room} connections and ${count} processes need ${needed}: raise its max_connections or give fewer --processes.`,
  );
}

/** Several processes that answer as one. */
export interface Processes extends Answering {
  /** What they counted, those that have ended too. */
  figures(): Promise<Figures[]>;
}

/**
 * Answers requests in `count` processes on one port that the kernel shares out. One that ends is started anew; all of
 * them drain when this process closes them, or dies. Throws a sentence when the port can't be had.
 */
export async function startProcesses(
  count: number,
  instructions: Instructions,
  log: FastifyBaseLogger,
): Promise<Processes> {
  const { host, port: wanted } = instructions.settings;
  await listen(() => tryPort(host, wanted), wanted);

  const running = new Set<ProcessApart>();
  const closing = new AbortController();
  let leaving = false;
  let { tls } = instructions.settings;
  const failures = new FailedAuthentications();
  let past: Promise<Figures> = Promise.resolve([]);
  let asking: Promise<Figures[]> | null = null;

  function start(port: number): ProcessApart {
    const one = startApart({ ...instructions, settings: { ...instructions.settings, port, tls } }, failures);
    running.add(one);
    if (leaving) leave(one);
    void one.ended.then(() => {
      running.delete(one);
      past = past.then((before) => sum([before, lasting(one.figures)]).getMetricsAsJSON());
    });
    return one;
  }

  /** Keeps a process in the place of `one`, whatever ends it. */
  async function keep(one: ProcessApart, port: number): Promise<void> {
    let pause = SHORTEST_PAUSE_MS;
    for (let current = one; ; current = start(port)) {
      const began = Date.now();
      const reason = await current.ended;
      if (closing.signal.aborted) return;
      pause =
        Date.now() - began > LONGEST_PAUSE_MS ? SHORTEST_PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS);
      log.error({ process: current.child.pid, reason, again_ms: pause }, 'a process that answers ended');
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
    // Of port 0 the first one's is everybody's.
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
        // Who asks while they are asked hears the same.
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

/** Fails where a process of anybody's has the port: one that shares it, as ours do, would let ours in beside it. */
function tryPort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(port, host, () => server.close(() => resolve()));
  });
}
