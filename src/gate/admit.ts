import type pg from 'pg';
import { openPool, STORE_DEADLINE_MS, type StoreAddress } from '../database/connect.ts';
import { StoreUnavailable } from '../database/store-failure.ts';
import { traced } from '../telemetry/tracing.ts';
import { admitBatch } from './admit.sql.ts';
import { Expired, GateFull } from './gate-errors.ts';
import { type Paced, Pacer } from './pace.ts';

/** A request with its prepared answer, before the gate. */
export interface Applicant {
  readonly accountId: number;
  readonly apiKeyId: number;
  /** The plan that the answer was prepared for. */
  readonly plan: string;
  /** The generation of a kept answer; null when it was read after the request came in. */
  readonly generation: number | null;
  /** False when no answer was prepared because the key's window was last seen spent. */
  readonly prepared: boolean;
  /** What the log tells of it beside its id; equal ones should be the same object, for then they are sent once. */
  readonly form: Form;
  readonly requestId: string;
  readonly state: RequestState;
}

/** What the log tells of a request, its key and its id aside. */
export interface Form {
  readonly status: number;
  readonly errorCode: string | null;
  readonly method: string;
  readonly pagePath: string;
  /** The query's parameters as a JSON object; null when there are none. */
  readonly query: string | null;
  readonly sourceIp: string;
  readonly userAgent: string | null;
}

/** Whether anybody still waits for the answer: what has not been sent to the store by then never is. */
interface RequestState {
  readonly abandoned: boolean;
}

/**
 * What the gate made of a request. `admitted` and `limited` are recorded and counted; of the others nothing was
 * written: `dead` has no live key, `moved` was prepared for another plan or generation than the account's, or not at all.
 */
export interface Verdict {
  verdict: 'admitted' | 'limited' | 'dead' | 'moved';
  plan: string;
  generation: number;
  /** Of the key's running window; 0 unless recorded. Times are the store's, in Unix seconds. */
  limit: number;
  remaining: number;
  endsAt: number;
  now: number;
}

/**
 * How often each was said: {@link Verdict}, or none because the gate was `full`, the store did not answer (`failed`), or the
 * request's time was over before it was asked about (`expired`).
 */
export type Verdicts = Record<Verdict['verdict'] | 'full' | 'failed' | 'expired', number>;

// Past it a request is refused at once: at 500 a batch it holds a second's work of the slowest store measured.
const LONGEST_QUEUE = 5_000;

// A larger batch saves little more and holds its rows locked for longer.
const LARGEST_BATCH = 500;

// Whoever floods the service with one key leaves room for the others; a burst of a thousand is answered.
const LONGEST_QUEUE_OF_KEY = 1_500;

interface Waiting {
  readonly applicant: Applicant;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: Error) => void;
}

/** The requests of one key in a batch, in the order in which they are counted. */
interface Party {
  readonly first: Applicant;
  generation: number | null;
  readonly fresh: Waiting[];
  readonly kept: Waiting[];
  readonly unprepared: Waiting[];
}

/** What the statement says of a party. */
interface PartyVerdict {
  n: number;
  verdict: 'alive' | 'dead' | 'moved';
  plan: string;
  generation: number;
  limit: number;
  /** Of the window, before the party. */
  used: number;
  /** How many of the party were recorded; the rest moved. */
  entries: number;
  ends_at: number;
  now: number;
}

/** Admits requests in batches: one is under way, those that arrive meanwhile form the next. */
export class Gate {
  readonly #pool: pg.Pool;
  #queue: Waiting[] = [];
  /** How many of it are of a key. */
  readonly #ofKey = new Map<number, number>();
  #running = false;
  readonly #pacer = new Pacer();
  readonly #verdicts: Verdicts = {
    ...{ admitted: 0, limited: 0, dead: 0, moved: 0 },
    ...{ full: 0, failed: 0, expired: 0 },
  };
  /** Called after each batch with its size and how long the store took, in seconds. */
  readonly #measure: (size: number, seconds: number) => void;
  /** Called after each batch that was committed. */
  readonly #committed: () => void;

  constructor(
    address: StoreAddress,
    measure: (size: number, seconds: number) => void = () => {},
    committed: () => void = () => {},
  ) {
    this.#pool = openPool(address, 'writer', { max: 1, statementTimeout: STORE_DEADLINE_MS });
    this.#measure = measure;
    this.#committed = committed;
  }

  /** Waits for the turn of a request that is over its key's limit; null when it may come at once. Throws {@link GateFull}. */
  turn(key: Paced): Promise<void> | null {
    try {
      return this.#pacer.turn(key);
    } catch (error) {
      this.#verdicts.full += 1;
      throw error;
    }
  }

  /** Waits for the verdict; throws {@link StoreUnavailable}, {@link GateFull} or {@link Expired}. */
  admit(applicant: Applicant): Promise<Verdict> {
    const ofKey = this.#ofKey.get(applicant.apiKeyId) ?? 0;
    if (this.#queue.length >= LONGEST_QUEUE || ofKey >= LONGEST_QUEUE_OF_KEY) {
      this.#verdicts.full += 1;
      return Promise.reject(new GateFull('the gate is full'));
    }
    this.#ofKey.set(applicant.apiKeyId, ofKey + 1);
    return new Promise((resolve, reject) => {
      this.#queue.push({ applicant, resolve, reject });
      if (!this.#running) {
        this.#running = true;
        // What else this turn of the event loop read from its sockets belongs to the same batch.
        setImmediate(() => void this.#run());
      }
    });
  }

  /** Requests that wait, those of the batch under way aside. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** How many requests got which verdict so far. */
  get verdicts(): Readonly<Verdicts> {
    return this.#verdicts;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const parties = this.#nextBatch();
      if (parties.length === 0) continue;
      try {
        const rows = await traced(
          () => stepOf(parties),
          () => this.#send(parties),
        );
        for (const row of rows) {
          const party = parties[row.n - 1];
          if (party) tell(party, row, this.#verdicts);
        }
        this.#committed();
      } catch (error) {
        const cause = new StoreUnavailable('the batch failed', { cause: error });
        const failed = parties.flatMap(members);
        this.#verdicts.failed += failed.length;
        for (const waiting of failed) waiting.reject(cause);
      }
    }
    this.#running = false;
  }

  /** Takes a batch off the queue. Who assumes another plan or generation than its key's party waits for the next. */
  #nextBatch(): Party[] {
    const parties = new Map<number, Party>();
    const later: Waiting[] = [];
    const batch = this.#queue.splice(0, LARGEST_BATCH);
    for (const waiting of batch) {
      const { apiKeyId, plan, generation, prepared, state } = waiting.applicant;
      if (state.abandoned) {
        this.#verdicts.expired += 1;
        waiting.reject(new Expired('the time of the request was over'));
        continue;
      }
      let party = parties.get(apiKeyId);
      if (party === undefined) {
        party = { first: waiting.applicant, generation: null, fresh: [], kept: [], unprepared: [] };
        parties.set(apiKeyId, party);
      }
      const agrees =
        party.first.plan === plan &&
        (generation === null || party.generation === null || party.generation === generation);
      if (!agrees) later.push(waiting);
      else if (!prepared) party.unprepared.push(waiting);
      else if (generation === null) party.fresh.push(waiting);
      else {
        party.generation = generation;
        party.kept.push(waiting);
      }
    }
    if (later.length > 0) this.#queue.unshift(...later);
    this.#ofKey.clear();
    for (const { applicant } of this.#queue) {
      this.#ofKey.set(applicant.apiKeyId, (this.#ofKey.get(applicant.apiKeyId) ?? 0) + 1);
    }
    return [...parties.values()];
  }

  async #send(parties: readonly Party[]): Promise<PartyVerdict[]> {
    const started = performance.now();
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    let size = 0;
    try {
      const { values, requests } = columns(parties);
      size = requests;
      return (await client.query<PartyVerdict>({ name: 'admit', text: admitBatch, values })).rows;
    } catch (error) {
      // Whatever it was, the next batch gets a connection of its own; one that hangs is cut.
      broken = error instanceof Error ? error : new Error(String(error));
      throw error;
    } finally {
      client.release(broken);
      this.#measure(size, (performance.now() - started) / 1000);
    }
  }
}

function members({ fresh, kept, unprepared }: Party): Waiting[] {
  return kept.length + unprepared.length === 0 ? fresh : [...fresh, ...kept, ...unprepared];
}

function stepOf(parties: readonly Party[]) {
  const serves = parties.flatMap(members).map(({ applicant }) => applicant.state);
  const attributes = { 'dbvitals.batch.requests': serves.length, 'dbvitals.batch.keys': parties.length };
  return { name: 'gate batch', attributes, serves };
}

function tell(
  party: Party,
  { verdict, plan, generation, limit, used, entries, ends_at, now }: PartyVerdict,
  verdicts: Verdicts,
) {
  let nth = 0;
  for (const { resolve } of members(party)) {
    nth += 1;
    if (verdict === 'alive' && nth <= entries) {
      const limited = limit > 0 && used + nth > limit;
      const remaining = Math.max(limit - used - nth, 0);
      const own = limited ? 'limited' : 'admitted';
      verdicts[own] += 1;
      resolve({ verdict: own, plan, generation, limit, remaining, endsAt: ends_at, now });
    } else {
      const own = verdict === 'alive' ? 'moved' : verdict;
      verdicts[own] += 1;
      resolve({ verdict: own, plan, generation, limit: 0, remaining: 0, endsAt: 0, now: 0 });
    }
  }
}

/**
 * The statement's parameters. Numbers and identifiers are written as arrays of PostgreSQL by a plain join, which costs
 * a tenth of what the driver's quoting does; only what a stranger can choose needs that.
 */
function columns(parties: readonly Party[]): { values: unknown[]; requests: number } {
  const forms = new Map<Form, number>();
  const [ofParty, nths, ofForm, ids]: [number[], number[], number[], string[]] = [[], [], [], []];
  for (const [n, party] of parties.entries()) {
    let nth = 0;
    for (const { applicant } of members(party)) {
      nth += 1;
      let form = forms.get(applicant.form);
      if (form === undefined) {
        form = forms.size + 1;
        forms.set(applicant.form, form);
      }
      ofParty.push(n + 1);
      nths.push(nth);
      ofForm.push(form);
      ids.push(applicant.requestId);
    }
  }
  const array = (list: readonly (number | string)[]) => `{${list.join()}}`;
  const told = [...forms.keys()];
  const values = [
    array(parties.map(({ first }) => first.accountId)),
    array(parties.map(({ first }) => first.apiKeyId)),
    array(parties.map(({ first }) => first.plan)),
    array(parties.map(({ generation }) => generation ?? 'null')),
    array(parties.map(({ fresh }) => fresh.length)),
    array(parties.map(({ kept }) => kept.length)),
    array(parties.map(({ unprepared }) => unprepared.length)),
    ...[ofParty, nths, ofForm, ids].map(array),
    told.map(({ status }) => status),
    told.map(({ errorCode }) => errorCode),
    told.map(({ method }) => method),
    told.map(({ pagePath }) => pagePath),
    told.map(({ query }) => query),
    told.map(({ sourceIp }) => sourceIp),
    told.map(({ userAgent }) => userAgent),
  ];
  return { values, requests: ids.length };
}
