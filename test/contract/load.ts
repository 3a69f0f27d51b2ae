import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, ask } from './ask.ts';

/** What a load brought in: answers that came whole, and how many requests broke off. */
export interface Load {
  answers: Answer[];
  broken: number;
  /** Ends the load; resolves when the last request has ended. */
  stop(): Promise<void>;
}

/** Keeps `width` requests under way, to what `origin` names at the time, until it is stopped. `pauseMs` lie after each answer: without them, two cores do nothing else. */
export function startLoad(key: string, width: number, origin: () => string, pauseMs = 10): Load {
  let going = true;
  const load: Load = {
    answers: [],
    broken: 0,
    stop: async () => {
      going = false;
      await Promise.all(loops);
    },
  };
  const loops = Array.from({ length: width }, async () => {
    while (going) {
      try {
        load.answers.push(await ask('/api/v1/health/fleet', { key, origin: origin() }));
        await wait(pauseMs);
      } catch (error) {
        if (!isBroken(error)) throw error;
        load.broken += 1;
        await wait(20);
      }
    }
  });
  return load;
}

// A connection that ended, as opposed to an answer that is wrong.
function isBroken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? error.code : '';
  return (
    code === 'ECONNREFUSED' ||
    code === 'ECONNRESET' ||
    code === 'EPIPE' ||
    error.message.includes('cut short')
  );
}
