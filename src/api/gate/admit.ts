import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { StoreAddress } from '../../config/store-url.ts';
import { traced } from '../../platform/telemetry/tracing.ts';
import { openPool, STORE_DEADLINE_MS } from '../../store/connect.ts';
import { connectAhead } from '../../store/connect-ahead.ts';
import { StoreUnavailable } from '../../store/store-failure.ts';
import { admitBatch } from './admit.sql.ts';
import { admitParameters } from './admit-parameters.ts';
import { AccountAway, Expired, GateFull } from './gate-errors.ts';
import {
  type Applicant,
  type KeyBatch,
  type KeyBatchVerdict,
  requestsOf,
  settle,
  type Verdict,
  type Verdicts,
  type Waiting,
} from './key-batch.ts';
import { type Paced, Pacer } from './pace.ts';

// Beyond it a request is rejected at once. At 500 a batch, the queue is one second of work for the slowest store measured.
// Connections have at most one request each, so only clients that keep disconnecting can fill it.
const LONGEST_QUEUE = 5_000;

// A larger batch saves little more and holds its row locks longer.
const LARGEST_BATCH = 500;

// How long a batch waits for requests that still read their answers, in milliseconds.
const LONGEST_WAIT_MS = 10;

/**
 * Admits requests in batches: one batch is under way, and requests that arrive meanwhile form the next one. A batch waits while
 * more requests read their answers than wait, because most of a batch's cost does not depend on its size.
 */
export class Gate {
  readonly #pool: pg.Pool;
  #queue: Waiting[] = [];
  #running = false;
  /** How many requests still read their answers. */
  #reading = 0;
  /** Ends the wait of the next batch. Null = it does not wait. */
  #endWait: (() => void) | null = null;
  /** Runs work that serves all clients outside of any request, so that its errors are not attributed to one client. */
  readonly #forEverybody = AsyncLocalStorage.snapshot();
  /** How many gates the process has now: one for each cell. */
  readonly #gates: () => number;
  /** Before this time of the process's clock, the next batch gathers requests. */
  #gathersUntil = 0;
  readonly #pacer = new Pacer();
  /** How far the store's clock is ahead of the process's, in milliseconds, at least; null = not known yet. */
  #ahead: number | null = null;
  readonly #verdicts: Verdicts = {
    admitted: 0,
    limited: 0,
    dead: 0,
    moved: 0,
    full: 0,
    failed: 0,
    expired: 0,
  };
  /** Called after each batch with its size and how long the store took, in seconds. */
  readonly #measure: (size: number, seconds: number) => void;
  /** Called after each committed batch. */
  readonly #committed: () => void;

  constructor(
    address: StoreAddress,
    measure: (size: number, seconds: number) => void = () => {},
    committed: () => void = () => {},
    gates = () => 1,
  ) {
    this.#pool = openPool(address, 'writer', { max: 1, statementTimeout: STORE_DEADLINE_MS });
    this.#measure = measure;
    this.#committed = committed;
    this.#gates = gates;
  }

  /** Connects to the store before the first request does. */
  connect(): void {
    connectAhead(this.#pool);
  }

  /** Waits for the turn of a request over its key's limit. Null if it need not wait. */
  turn(key: Paced): Promise<void> | null {
    return this.#pacer.turn(key);
  }

  /** Waits for the verdict; throws {@link StoreUnavailable}, {@link GateFull}, {@link Expired} or {@link AccountAway}. */
  admit(applicant: Applicant): Promise<Verdict> {
    if (this.#queue.length >= LONGEST_QUEUE) {
      this.#verdicts.full += 1;
      return Promise.reject(new GateFull('the gate is full'));
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ applicant, resolve, reject });
      if (this.#isGathered()) this.#endWait?.();
      if (!this.#running) {
        this.#running = true;
        // Other requests that this turn of the event loop reads from its sockets join the same batch.
        this.#forEverybody(() => setImmediate(() => void this.#run()));
      }
    });
  }

  /** Waits for a read, after which its request asks for admission. */
  async whileReading<T>(read: Promise<T>): Promise<T> {
    this.#reading += 1;
    try {
      return await read;
    } finally {
      this.#reading -= 1;
      if (this.#isGathered()) this.#endWait?.();
    }
  }

  /** The number of waiting requests, without the batch under way. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** How many requests got each verdict so far. */
  get verdicts(): Readonly<Verdicts> {
    return this.#verdicts;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      if (!this.#isGathered()) await this.#wait();
      if (this.#gates() > 1) await this.#gather();
      const batches = this.#nextBatch();
      if (batches.length === 0) continue;
      try {
        const rows = await traced(
          () => stepOf(batches),
          () => this.#send(batches),
        );
        for (const row of rows) {
          const batch = batches[row.n - 1];
          // After a jump of the store's clock, a batch that was not late comes again.
          if (batch) this.#queue.unshift(...settle(batch, row, this.#verdicts));
        }
        if (rows.length < batches.length) this.#leave(batches, rows);
        this.#committed();
      } catch (error) {
        this.#fail(batches, new StoreUnavailable('the batch failed', { cause: error }));
      }
    }
    this.#running = false;
  }

  /** Fails the batches that got no verdict. */
  #leave(batches: readonly KeyBatch[], rows: readonly KeyBatchVerdict[]): void {
    const settled = new Set(rows.map(({ n }) => n - 1));
    const away = batches.filter((_, n) => !settled.has(n));
    this.#fail(away, new AccountAway('the log of the account is not open here'));
  }

  #fail(batches: readonly KeyBatch[], cause: Error): void {
    const failed = batches.flatMap(requestsOf);
    this.#verdicts.failed += failed.length;
    for (const waiting of failed) waiting.reject(cause);
  }

  #isGathered(): boolean {
    return this.#queue.length >= Math.min(this.#reading, LARGEST_BATCH);
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#endWait = null;
        // The request that ended its read asks for admission in this turn.
        setImmediate(resolve);
      };
      const timer = setTimeout(end, LONGEST_WAIT_MS);
      this.#endWait = end;
    });
  }

  /**
   * Waits as long as the last batch took, for each other gate of the process. So the gates of several cells together send as
   * many batches as a single gate would, and most of a batch's cost does not depend on its size. Another cell's delays play
   * no part in it.
   */
  async #gather(): Promise<void> {
    const rest = this.#gathersUntil - performance.now();
    if (rest > 0 && this.#queue.length < LARGEST_BATCH) await wait(Math.min(rest, LONGEST_WAIT_MS));
  }

  /**
   * Takes a batch off the queue. A request that assumes another plan, generation or access than its key's batch waits for the
   * next one.
   */
  #nextBatch(): KeyBatch[] {
    const batches = new Map<number, KeyBatch>();
    const later: Waiting[] = [];
    const taken = this.#queue.splice(0, LARGEST_BATCH);
    for (const waiting of taken) {
      const { apiKeyId, plan, accessVersion, generation, prepared, state } = waiting.applicant;
      if (state.abandoned) {
        this.#verdicts.expired += 1;
        waiting.reject(new Expired('the request missed its deadline'));
        continue;
      }
      let batch = batches.get(apiKeyId);
      if (batch === undefined) {
        batch = { first: waiting.applicant, generation: null, fresh: [], kept: [], unprepared: [] };
        batches.set(apiKeyId, batch);
      }
      const agrees =
        batch.first.plan === plan &&
        batch.first.accessVersion === accessVersion &&
        (generation === null || batch.generation === null || batch.generation === generation);
      if (!agrees) later.push(waiting);
      else if (!prepared) batch.unprepared.push(waiting);
      else if (generation === null) batch.fresh.push(waiting);
      else {
        batch.generation = generation;
        batch.kept.push(waiting);
      }
    }
    if (later.length > 0) this.#queue.unshift(...later);
    return [...batches.values()];
  }

  async #send(batches: readonly KeyBatch[]): Promise<KeyBatchVerdict[]> {
    const started = performance.now();
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    let size = 0;
    try {
      // A store that was frozen executes what it was sent when it wakes up.
      const sent = performance.now();
      const deadline = this.#ahead === null ? null : (sent + this.#ahead + STORE_DEADLINE_MS) / 1000;
      const { values, requests } = admitParameters(batches, deadline);
      size = requests;
      const { rows } = await client.query<KeyBatchVerdict>({ name: 'admit', text: admitBatch, values });
      for (const { now } of rows) if (now !== null) this.#ahead = 1000 * now - performance.now();
      return rows;
    } catch (error) {
      // After any error the next batch gets a new connection. A hanging connection is closed.
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(broken);
      const ended = performance.now();
      // A request alone has nobody to wait for.
      if (size > 1) this.#gathersUntil = ended + (this.#gates() - 1) * (ended - started);
      this.#measure(size, (ended - started) / 1000);
    }
  }
}

function stepOf(batches: readonly KeyBatch[]) {
  const serves = batches.flatMap(requestsOf).map(({ applicant }) => applicant.state);
  const attributes = { 'dbvitals.batch.requests': serves.length, 'dbvitals.batch.keys': batches.length };
  return { name: 'gate batch', attributes, serves };
}
