import type { Answer } from './ask.ts';
import { DbvitalsError } from './error.ts';
import type { Page } from './list.ts';
import type { ActivityEntry } from './records.ts';
import { wait } from './wait.ts';

/** How often the end of the log is looked at, unless told otherwise: 12 requests of the limit a minute. */
const POLL_SECONDS = 5;

/** What to follow. */
export interface FollowOptions {
  /** The last entry that you have: what comes after it is given. 0 for the whole log. */
  afterId: number;
  /** Only entries of this kind. */
  actionType?: string | undefined;
  /** Seconds between two looks at the end of the log: 5 unless given. */
  pollSeconds?: number | undefined;
  /** Ends it at once, between two entries of a page too: the iterator throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Reads entries after an id, oldest first. */
type ReadAfter = (query: {
  order: 'asc';
  per_page: number;
  after_id?: number;
  action_type?: string;
}) => Promise<Answer<Page<ActivityEntry>>>;

/** Gives each entry once, in order, for ever. Throws `entry_missing` where the log, read whole, lacks one that it must have. */
export async function* follow(
  read: ReadAfter,
  options: FollowOptions,
): AsyncGenerator<ActivityEntry, never, undefined> {
  const { afterId, actionType, pollSeconds = POLL_SECONDS, signal } = options;
  let last = afterId;
  let nothing = 0;
  for (;;) {
    const { body } = await read({
      order: 'asc',
      per_page: 100,
      after_id: last,
      ...(actionType === undefined ? {} : { action_type: actionType }),
    });
    for (const [at, entry] of body.data.entries()) {
      if (entry.id !== last + 1 && actionType === undefined) {
        if (at > 0 || entry.id <= last || !(await wasPruned(read, entry.id)))
          throw missing(last + 1, entry.id);
      }
      signal?.throwIfAborted();
      last = entry.id;
      yield entry;
    }
    nothing = body.data.length === 0 ? nothing + 1 : 0;
    // Every request is an entry itself, so the one before this one must have been there.
    if (nothing > 1 && actionType === undefined) throw endsBefore(last);
    if (!body.meta.has_more) await wait(pollSeconds * 1_000, signal);
  }
}

/** Whether the log begins with that entry, or later still: what came before was cut by age. */
async function wasPruned(read: ReadAfter, id: number): Promise<boolean> {
  const { body } = await read({ order: 'asc', per_page: 1 });
  return (body.data[0]?.id ?? 0) >= id;
}

function missing(expected: number, found: number): DbvitalsError {
  return new DbvitalsError(
    'entry_missing',
    `The log gave entry ${found} where ${expected} must come: tell the operator of the service.`,
  );
}

function endsBefore(id: number): DbvitalsError {
  return new DbvitalsError(
    'entry_missing',
    `The log has no entry ${id} yet: check that the key is of the account that the id is from.`,
  );
}
