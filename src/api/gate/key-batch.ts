// One key's requests in a batch of the gate, and how the statement's verdict settles them.

/** A request with its prepared answer, before the gate. */
export interface Applicant {
  readonly accountId: number;
  readonly apiKeyId: number;
  /** The plan that the answer was prepared for. */
  readonly plan: string;
  /** The version of the key's access rules by which it was judged. */
  readonly accessVersion: number;
  /** The generation of a cached answer; null = the answer was read after the request arrived. */
  readonly generation: number | null;
  /** False when no answer was prepared because the key's window was last seen spent. */
  readonly prepared: boolean;
  /** What the log records about it besides its id. Equal requests share one object, which is sent once. */
  readonly template: LogTemplate;
  readonly requestId: string;
  readonly state: RequestState;
}

/** What the log records about a request besides its key and its id. */
export interface LogTemplate {
  readonly status: number;
  readonly errorCode: string | null;
  readonly method: string;
  readonly pagePath: string;
  /** The query's parameters as a JSON object; null when there are none. */
  readonly query: string | null;
  readonly sourceIp: string;
  readonly userAgent: string | null;
}

/** Whether a client still waits for the answer. An abandoned request is never sent to the store. */
interface RequestState {
  readonly abandoned: boolean;
}

/**
 * The gate's decision on a request. `admitted` and `limited` are recorded and counted. For the others nothing was written:
 * `dead` = the key is not valid; `moved` = prepared for another plan or generation than the account's, by other access rules
 * than the key's, or not at all.
 */
export interface Verdict {
  verdict: 'admitted' | 'limited' | 'dead' | 'moved';
  plan: string;
  generation: number;
  /** The version of the key's access rules, if the whole batch moved; else null. */
  accessVersion: number | null;
  /** The key's current window; 0 unless recorded. Times are from the store, in Unix seconds. */
  limit: number;
  remaining: number;
  endsAt: number;
  now: number;
}

/**
 * Counts of each {@link Verdict}, and of requests without one: the gate was `full`, the store did not answer (`failed`), or
 * the request missed its deadline before its batch was sent (`expired`).
 */
export type Verdicts = Record<Verdict['verdict'] | 'full' | 'failed' | 'expired', number>;

/** A request that waits for its verdict. */
export interface Waiting {
  readonly applicant: Applicant;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: Error) => void;
}

/** The requests of one key in a batch, in the order in which they are counted. */
export interface KeyBatch {
  readonly first: Applicant;
  generation: number | null;
  readonly fresh: Waiting[];
  readonly kept: Waiting[];
  readonly unprepared: Waiting[];
}

/** The statement's result for a key's batch; `late` = it was executed after its deadline, and nothing was written. */
export interface KeyBatchVerdict {
  n: number;
  verdict: 'alive' | 'dead' | 'moved' | 'late';
  plan: string;
  generation: number;
  access_version: number | null;
  limit: number;
  /** Requests used in the window before the batch. */
  used: number;
  /** How many of the batch were recorded; the rest moved. */
  entries: number;
  ends_at: number;
  /** The store's clock in Unix seconds; null if the verdict is `dead` or `moved`. */
  now: number | null;
}

/** A batch's requests in the order in which they are counted. */
export function requestsOf({ fresh, kept, unprepared }: KeyBatch): readonly Waiting[] {
  if (unprepared.length === 0 && kept.length === 0) return fresh;
  if (unprepared.length === 0 && fresh.length === 0) return kept;
  return [...fresh, ...kept, ...unprepared];
}

/** Gives each request of a batch its verdict and counts it; returns those that need another batch. */
export function settle(batch: KeyBatch, row: KeyBatchVerdict, verdicts: Verdicts): readonly Waiting[] {
  const {
    verdict,
    plan,
    generation,
    access_version: accessVersion,
    limit,
    used,
    entries,
    ends_at,
    now,
  } = row;
  const requests = requestsOf(batch);
  if (verdict === 'late') return requests;
  let nth = 0;
  for (const { resolve } of requests) {
    nth += 1;
    if (verdict === 'alive' && now !== null && nth <= entries) {
      const limited = limit > 0 && used + nth > limit;
      const remaining = Math.max(limit - used - nth, 0);
      const own = limited ? 'limited' : 'admitted';
      verdicts[own] += 1;
      resolve({ verdict: own, plan, generation, accessVersion, limit, remaining, endsAt: ends_at, now });
    } else {
      const own = verdict === 'alive' ? 'moved' : verdict;
      verdicts[own] += 1;
      const nothing = { limit: 0, remaining: 0, endsAt: 0, now: 0 };
      resolve({ verdict: own, plan, generation, accessVersion, ...nothing });
    }
  }
  return [];
}
