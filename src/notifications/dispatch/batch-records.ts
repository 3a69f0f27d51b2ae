import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { errorFields, isStoreFailure } from '../../store/store-failure.ts';
import type { EndedAttempt } from './attempt-delivery.ts';
import { type RecordedAttempts, recordAttempts } from './record-attempts.ts';

const RETRY_MS = 1_000;
/** The most requests in one statement. */
const MOST = 100;

interface Waiting {
  attempt: EndedAttempt;
  resolve: (recorded: RecordedAttempts | null) => void;
}

/** Records attempts, those of a destination together. */
export interface Recorder {
  /**
   * Records the attempt; waits for the store as long as that takes. Never throws. The result is of the whole statement, and
   * only one of the attempts in it gets it; the others get null.
   */
  record(attempt: EndedAttempt): Promise<RecordedAttempts | null>;
}

/**
 * Records the first attempt of a destination at once, and those that end meanwhile together in the next statement. After
 * `stopped` aborts, nothing is tried again.
 */
export function createRecorder(
  writer: pg.Pool,
  log: Pick<Logger, 'error' | 'isLevelEnabled'>,
  stopped: AbortSignal,
): Recorder {
  const queues = new Map<number, Waiting[]>();

  async function write(batch: readonly [Waiting, ...Waiting[]]): Promise<RecordedAttempts | null> {
    const [first, ...others] = batch;
    let attempts: [EndedAttempt, ...EndedAttempt[]] = [
      first.attempt,
      ...others.map(({ attempt }) => attempt),
    ];
    for (let isPlain = false; !stopped.aborted; ) {
      try {
        return await recordAttempts(writer, attempts);
      } catch (error) {
        if (!isStoreFailure(error)) {
          log.error(errorFields(error, log), 'attempts of notifications could not be recorded');
          if (isPlain) return null; // their leases expire
          isPlain = true;
          attempts = [plain(attempts[0]), ...attempts.slice(1).map(plain)];
        } else await wait(RETRY_MS, undefined, { signal: stopped }).catch(() => {});
      }
    }
    return null;
  }

  async function drain(destinationId: number, queue: Waiting[]): Promise<void> {
    for (;;) {
      const [first, ...others] = queue.splice(0, MOST);
      if (first === undefined) break;
      first.resolve(await write([first, ...others]));
      for (const { resolve } of others) resolve(null);
    }
    queues.delete(destinationId);
  }

  return {
    record: (attempt) =>
      new Promise((resolve) => {
        const { destinationId } = attempt.lease.destination;
        const queue = queues.get(destinationId);
        if (queue) {
          queue.push({ attempt, resolve });
          return;
        }
        const started = [{ attempt, resolve }];
        queues.set(destinationId, started);
        void drain(destinationId, started);
      }),
  };
}

// Without the texts of strangers, in case one of them can't be stored.
function plain({ sent, ...attempt }: EndedAttempt): EndedAttempt {
  return {
    ...attempt,
    headers: {},
    sent: { ...sent, result: sent.accepted ? 'Accepted.' : 'Failed.', response: '' },
  };
}
