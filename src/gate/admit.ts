import type pg from 'pg';
import { openPool, STORE_DEADLINE_MS, type StoreAddress } from '../database/connect.ts';
import { admitBatch } from './admit.sql.ts';

/** A request with its prepared answer, before the gate. */
export interface Applicant {
  accountId: number;
  apiKeyId: number;
  /** The plan that the answer was prepared for. */
  plan: string;
  /** The generation of a kept answer; null when it was read after the request came in. */
  generation: number | null;
  /** False when no answer was prepared because the key's window was last seen spent. */
  prepared: boolean;
  status: number;
  errorCode: string | null;
  method: string;
  pagePath: string;
  /** The query's parameters as a JSON object; null when there are none. */
  query: string | null;
  requestId: string;
  sourceIp: string;
  userAgent: string | null;
  life: Life;
}

/** Whether anybody still waits for the answer: what has not been sent to the store by then never is. */
export interface Life {
  abandoned: boolean;
}

/**
 * What the gate made of a request. `admitted` and `limited` are recorded and counted; of the others nothing was
 * written: `dead` has no live key, `moved` was prepared for another plan or generation than the account's, or not at all.
 */
export interface Verdict {
  verdict: 'admitted' | 'limited' | 'dead' | 'moved';
  plan: string;
  generation: number;
  /** Of the key's running window; null unless recorded. Times are the store's, in Unix seconds. */
  limit: number;
  remaining: number;
  ends_at: number;
  now: number;
}

/** The store did not answer in time, or not at all; whether the batch was committed is unknown. */
class StoreUnavailable extends Error {}

// Past it a request is refused at once: at 500 a batch it holds a second's work of the slowest store measured.
const LONGEST_QUEUE = 5_000;

// A larger batch saves little more and holds its rows locked for longer.
const LARGEST_BATCH = 500;

/** Admits requests in batches: one is under way, those that arrive meanwhile form the next. */
export class Gate {
  readonly #pool: pg.Pool;
  #queue: { applicant: Applicant; resolve: (verdict: Verdict) => void; reject: (error: Error) => void }[] =
    [];
  #running = false;
  /** Called after each batch with its size and how long the store took, in seconds. */
  readonly #measure: (size: number, seconds: number) => void;

  constructor(address: StoreAddress, measure: (size: number, seconds: number) => void = () => {}) {
    this.#pool = openPool(address, 'writer', { max: 1, statementTimeout: STORE_DEADLINE_MS });
    this.#measure = measure;
  }

  /** Waits for the verdict; throws {@link StoreUnavailable}. */
  admit(applicant: Applicant): Promise<Verdict> {
    if (this.#queue.length >= LONGEST_QUEUE) return Promise.reject(new StoreUnavailable('the gate is full'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ applicant, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        // What else this turn of the event loop read from its sockets belongs to the same batch.
        setImmediate(() => void this.#run());
      }
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, LARGEST_BATCH).filter(({ applicant }) => !applicant.life.abandoned);
      if (batch.length === 0) continue;
      try {
        const verdicts = await this.#send(batch.map(({ applicant }) => applicant));
        for (const [i, { resolve, reject }] of batch.entries()) {
          const verdict = verdicts[i];
          if (verdict) resolve(verdict);
          else reject(new StoreUnavailable('the store gave no verdict'));
        }
      } catch (error) {
        const cause = new StoreUnavailable('the batch failed', { cause: error });
        for (const { reject } of batch) reject(cause);
      }
    }
    this.#running = false;
  }

  async #send(batch: Applicant[]): Promise<Verdict[]> {
    const started = performance.now();
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      const { rows } = await client.query<Verdict>({
        name: 'admit',
        text: admitBatch,
        values: columns(batch),
      });
      return rows;
    } catch (error) {
      // Whatever it was, the next batch gets a connection of its own; one that hangs is cut.
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(broken);
      this.#measure(batch.length, (performance.now() - started) / 1000);
    }
  }
}

function columns(batch: Applicant[]): unknown[] {
  return [
    batch.map((applicant) => applicant.accountId),
    batch.map((applicant) => applicant.apiKeyId),
    batch.map((applicant) => applicant.plan),
    batch.map((applicant) => applicant.generation),
    batch.map((applicant) => applicant.status),
    batch.map((applicant) => applicant.errorCode),
    batch.map((applicant) => applicant.method),
    batch.map((applicant) => applicant.pagePath),
    batch.map((applicant) => applicant.query),
    batch.map((applicant) => applicant.requestId),
    batch.map((applicant) => applicant.sourceIp),
    batch.map((applicant) => applicant.userAgent),
    batch.map((applicant) => applicant.prepared),
  ];
}
