import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import {
  exchangeAll,
  forgetNames,
  isEndedByPooler,
  type Statement,
} from '../../platform/unsafe/pg-exchange.ts';

/** An exchange that waits for a connection. */
interface Waiting {
  readonly statements: readonly Statement[];
  readonly resolve: (results: unknown[][]) => void;
  readonly reject: (error: unknown) => void;
  /** It failed once, through no fault of its own. */
  isRepeated: boolean;
}

/** Runs what serves several requests outside of any, so that its errors are not attributed to one. */
const forEverybody = AsyncLocalStorage.snapshot();

/** A connection gets no more exchanges at once: those behind a slow one wait for it. */
const MOST_AT_ONCE = 8;

/**
 * Runs exchanges on the connections of a pool, several at once on each: what is asked for in a turn of the event loop, or while all
 * connections are busy, is sent together. To wake the other process costs both of them more than a short read.
 */
class ExchangeQueue {
  readonly #pool: pg.Pool;
  #waiting: Waiting[] = [];
  #isStarting = false;
  #busy = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  run(statements: readonly Statement[]): Promise<unknown[][]> {
    return new Promise((resolve, reject) => {
      this.#add({ statements, resolve, reject, isRepeated: false });
    });
  }

  #add(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#isStarting) return;
    this.#isStarting = true;
    forEverybody(() =>
      setImmediate(() => {
        this.#isStarting = false;
        this.#start();
      }),
    );
  }

  #start(): void {
    for (let free = this.#pool.options.max - this.#busy; free > 0 && this.#waiting.length > 0; free -= 1) {
      const share = Math.ceil(this.#waiting.length / free);
      void this.#send(this.#waiting.splice(0, Math.min(share, MOST_AT_ONCE)));
    }
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    this.#busy += 1;
    let broken: Error | undefined;
    try {
      const client = await this.#pool.connect();
      try {
        // The pool's other connections may be about to end for the same reason.
        if (batch.some(({ isRepeated }) => isRepeated)) forgetNames(client);
        const results = await exchangeAll(
          client,
          batch.map(({ statements }) => statements),
        );
        for (const [n, result] of results.entries()) {
          const waiting = batch[n];
          if (result.status === 'fulfilled') waiting?.resolve(result.value);
          else broken = this.#fail(waiting, result.reason, batch.length) ?? broken;
        }
      } finally {
        client.release(broken);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#busy -= 1;
    this.#start();
  }

  /** Returns the error if the connection can't be used again. */
  #fail(waiting: Waiting | undefined, error: unknown, size: number): Error | null {
    const isEnded = isEndedByPooler(error);
    const isAnswer = error instanceof pg.DatabaseError && !isEnded;
    // What a neighbour's connection lost is read again: it only reads.
    if (waiting && !waiting.isRepeated && (isEnded || (!isAnswer && size > 1))) {
      waiting.isRepeated = true;
      this.#add(waiting);
    } else {
      waiting?.reject(error);
    }
    // Without PostgreSQL's own answer the exchange may still run, and the next one would wait for it.
    if (isAnswer) return null;
    return error instanceof Error ? error : new Error(String(error));
  }
}

const queues = new WeakMap<pg.Pool, ExchangeQueue>();

/** Runs an exchange on a connection of the pool. */
export function exchangeWith(pool: pg.Pool, statements: readonly Statement[]): Promise<unknown[][]> {
  let queue = queues.get(pool);
  if (!queue) {
    queue = new ExchangeQueue(pool);
    queues.set(pool, queue);
  }
  return queue.run(statements);
}
