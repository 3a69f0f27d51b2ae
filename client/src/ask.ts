import { checkBody, checkHead, cutShort, failure } from './answer.ts';
import { DbvitalsError } from './error.ts';
import { wait } from './wait.ts';

/** The service answers within 2 s; the rest is for the way. */
const ANSWER_MS = 30_000;
/** How often a request is made before a failure that may pass is the caller's; with these pauses about 8 s in all. */
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** A window of the limit lasts 60 s: who says more is no service of ours, and a caller should know. */
const LONGEST_RETRY_AFTER = 3_600;
/** For a 429 that does not say: a window of the limit. */
const WINDOW_SECONDS = 60;

export type Fetch = (request: Request) => Promise<Response>;

/** How a request is made. */
export interface How {
  signal?: AbortSignal | undefined;
  fetch: Fetch;
  /** once: each failure is the caller's at once; always: what may pass is tried again for ever. */
  retry: 'once' | 'some' | 'always';
}

/** Makes the request once, with what it is given. */
type Get<Body> = (init: {
  signal: AbortSignal;
  fetch: Fetch;
}) => Promise<{ data?: Body; error?: unknown; response: Response }>;

/** An answer of the API. */
export interface Answer<Body> {
  body: Body;
  response: Response;
}

/**
 * Asks until it is answered: after a 429 exactly when Retry-After says, after a failure that may pass with growing pauses.
 * Every request is a GET, so a second one does no harm. Throws {@link DbvitalsError}, or the signal's reason.
 */
export async function ask<Body extends object>(get: Get<Body>, how: How): Promise<Answer<Body>> {
  const attempts = { once: 1, some: ATTEMPTS, always: Number.POSITIVE_INFINITY }[how.retry];
  for (let failures = 0; ; ) {
    try {
      return await attempt(get, how);
    } catch (error) {
      if (!(error instanceof DbvitalsError)) throw error;
      const limited = error.status === 429 && how.retry !== 'once';
      const retryAfter = error.retryAfter ?? (limited ? WINDOW_SECONDS : null);
      if (!limited) failures += 1;
      if ((!limited && !error.passing) || failures >= attempts || (retryAfter ?? 0) > LONGEST_RETRY_AFTER)
        throw error;
      await wait(retryAfter === null ? pause(failures) : retryAfter * 1_000, how.signal);
    }
  }
}

/** Full jitter: callers that failed together do not come back together. */
function pause(failures: number): number {
  return Math.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
}

async function attempt<Body extends object>(get: Get<Body>, { signal, fetch }: How): Promise<Answer<Body>> {
  signal?.throwIfAborted();
  // Not AbortSignal.any: a signal that lives as long as the program would gather one listener for each request.
  const end = new AbortController();
  const abort = () => end.abort(signal?.reason);
  signal?.addEventListener('abort', abort);
  const timer = setTimeout(() => end.abort(), ANSWER_MS);
  let head: Response | undefined;
  try {
    const { data, error, response } = await get({
      signal: end.signal,
      async fetch(request) {
        head = await fetch(request);
        checkHead(head);
        return head;
      },
    });
    if (!response.ok) throw failure(error, response);
    return { body: checkBody(data, response), response };
  } catch (cause) {
    if (cause instanceof DbvitalsError) throw cause;
    signal?.throwIfAborted();
    throw head ? cutShort(head, cause) : unreachable(cause, end.signal.aborted);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

function unreachable(cause: unknown, late: boolean): DbvitalsError {
  const why = late ? `did not answer within ${ANSWER_MS / 1_000} s` : `can't be reached${reason(cause)}`;
  const message = `The service ${why}: check its address, the network, and that it runs; in a browser also that it allows this origin.`;
  return new DbvitalsError('unreachable', message, { cause });
}

/** Such as " (ECONNREFUSED)", where the runtime tells. */
function reason(failed: unknown): string {
  const causes = failed instanceof Error ? [failed, failed.cause] : [];
  for (const cause of causes) {
    if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string')
      return ` (${cause.code})`;
  }
  return '';
}
