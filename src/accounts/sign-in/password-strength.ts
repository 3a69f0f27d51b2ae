import { once } from 'node:events';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Rejection } from '../../platform/rejection.ts';
import { knownWords } from './known-words.ts';
import type { PasswordVerdict, Question } from './password-worker.ts';

/** Loading takes a second of CPU and 70 MB (measured). So a worker does it, and ends after this idle time. */
const IDLE_MS = 60_000;
const LONGEST_MS = 60_000;
const MOST_WAITING = 100;

const WHY: Record<string, string> = {
  common: 'this one is among the most common',
  commonNames: 'names are easy to guess',
  commonNamesByThemselves: 'names are easy to guess',
  dates: 'dates are easy to guess',
  extendedRepeat: 'repeated text is easy to guess',
  keyPattern: 'rows of keys are easy to guess',
  namesByThemselves: 'names are easy to guess',
  recentYears: 'recent years are easy to guess',
  sequences: 'sequences such as abc are easy to guess',
  similarToCommon: 'this one is similar to a common password',
  simpleRepeat: 'repeated characters are easy to guess',
  straightRow: 'rows of keys are easy to guess',
  topHundred: 'this one is among the most common',
  topTen: 'this one is among the most common',
  wordByItself: 'a single word is easy to guess',
  userInputs: 'it must not be based on your name, e-mail address or company',
};

let worker: Worker | null = null;
let idle: NodeJS.Timeout | undefined;
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;

/**
 * Rejects a password that is easy to guess and says why. `about` is what others know about the person: name, e-mail
 * address, company, which count for nothing in it; `parameter` names the field. Throws 400, and 429 when too many are waiting.
 */
export async function requireStrong(
  password: string,
  about: readonly (string | null)[],
  parameter: string,
): Promise<void> {
  const known = knownWords(about);
  const { strong, warning } = await inTurn(() => ask({ password, known }));
  if (strong) return;
  const why = WHY[warning ?? ''] ?? 'this one is easy to guess';
  throw new Rejection(
    'invalid_parameter',
    `Choose a password that is harder to guess, such as four unrelated words: ${why}.`,
    { parameter },
  );
}

/** One at a time, so that it uses at most one core. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= MOST_WAITING) {
    throw new Rejection(
      'too_many_attempts',
      'Too many passwords are being set. Try again in a few seconds.',
      {
        retryAfter: 5,
      },
    );
  }
  waiting += 1;
  const turn = last.then(work, work);
  last = turn.catch(() => {});
  return turn.finally(() => {
    waiting -= 1;
  });
}

async function ask(question: Question): Promise<PasswordVerdict> {
  clearTimeout(idle);
  worker ??= start();
  const asked = worker;
  asked.ref();
  asked.postMessage(question);
  try {
    const signal = AbortSignal.timeout(LONGEST_MS);
    const [judged] = (await once(asked, 'message', { signal })) as [PasswordVerdict]; // throws what the worker throws
    return judged;
  } catch (error) {
    end(asked);
    throw error;
  } finally {
    asked.unref();
    idle = setTimeout(() => end(asked), IDLE_MS).unref();
  }
}

function start(): Worker {
  const path = join(import.meta.dirname, `password-worker${extname(import.meta.filename)}`);
  // The worker gets no environment: it needs none.
  const started = new Worker(path, { env: {}, resourceLimits: { maxOldGenerationSizeMb: 256 } });
  // Without a listener, an error would end the service.
  started.on('error', () => end(started));
  return started;
}

function end(ended: Worker): void {
  if (worker === ended) worker = null;
  void ended.terminate();
}
