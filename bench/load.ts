import { setTimeout as wait } from 'node:timers/promises';
import { Client } from './client.ts';
import type { NextRequest } from './mixes.ts';

/** The result of a load. Times are from a request (or its scheduled time) to its answer. */
export interface LoadResult {
  answers: number;
  /** Answers per second. */
  rate: number;
  /** In milliseconds. */
  p50: number;
  p99: number;
}

/** Sends requests on `connections`; each sends its next request when the last is answered. */
export async function load(
  port: number,
  next: NextRequest,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<LoadResult> {
  const clients = await openAll(port, connections);
  const tally = new Tally();
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    clients.map(async (client, connection) => {
      for (let sent = performance.now(); sent < end; sent = performance.now()) {
        const status = await client.ask(next(connection));
        tally.add(status, performance.now() - sent);
      }
      client.close();
    }),
  );
  return tally.result();
}

/** Sends `rate` requests per second, regardless of the answers. A request without a free connection waits. */
export async function loadSteadily(
  port: number,
  next: NextRequest,
  { connections, seconds, rate }: { connections: number; seconds: number; rate: number },
): Promise<LoadResult> {
  const clients = await openAll(port, connections);
  const free = [...clients];
  const late: (() => void)[] = [];
  const tally = new Tally();
  const started = performance.now();
  const ask = async (n: number) => {
    const client = free.shift(); // the one that waited longest, before the server closes it as idle
    if (!client) return new Promise<void>((resolve) => late.push(() => resolve(ask(n))));
    const status = await client.ask(next(n));
    tally.add(status, performance.now() - started - (n * 1000) / rate);
    free.push(client);
    late.shift()?.();
  };
  const failed = Promise.withResolvers<never>();
  const asked: Promise<void>[] = [];
  while (asked.length < rate * seconds) {
    const due = Math.min(((performance.now() - started) * rate) / 1000, rate * seconds);
    while (asked.length < due) asked.push(ask(asked.length).catch(failed.reject));
    await Promise.race([wait(1), failed.promise]);
  }
  await Promise.race([Promise.all(asked), failed.promise]);
  for (const client of clients) client.close();
  return tally.result();
}

function openAll(port: number, connections: number): Promise<Client[]> {
  return Promise.all(Array.from({ length: connections }, () => Client.open(port)));
}

class Tally {
  readonly #started = performance.now();
  readonly #took: number[] = [];
  readonly #others = new Map<number, number>();

  add(status: number, ms: number): void {
    this.#took.push(ms);
    if (status !== 200) this.#others.set(status, (this.#others.get(status) ?? 0) + 1);
  }

  /** Throws when an answer was not 200. */
  result(): LoadResult {
    const seconds = (performance.now() - this.#started) / 1000;
    if (this.#others.size > 0) {
      const others = [...this.#others].map(([status, count]) => `${count} were ${status}`);
      throw new Error(`Of ${this.#took.length} answers ${others.join(', ')}: all must be 200.`);
    }
    const answers = this.#took.length;
    const sorted = Float64Array.from(this.#took).sort();
    const quantile = (q: number) => sorted[Math.floor((answers - 1) * q)] ?? 0;
    return { answers, rate: answers / seconds, p50: quantile(0.5), p99: quantile(0.99) };
  }
}
