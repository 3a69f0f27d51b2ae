import { setTimeout as wait } from 'node:timers/promises';

/** Work that runs periodically. */
export interface Rounds {
  /** Waits for the current step to end and starts no other. */
  stop(): Promise<void>;
}

/**
 * Runs `work` after `first` milliseconds, then `every` milliseconds after it ended. `work` must never throw, and must
 * end soon after its signal aborts.
 */
export function startRounds(
  work: (signal: AbortSignal) => Promise<void>,
  { first, every }: { first: number; every: number },
): Rounds {
  const stopping = new AbortController();
  const running = (async () => {
    for (let pause = first; ; pause = every) {
      await rest(pause, stopping.signal);
      if (stopping.signal.aborted) return;
      await work(stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Waits until the time is over or the signal aborts. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}

/** Runs the steps, and pauses after each for as long as it took, because requests and checks come first. Ends when aborted. */
export async function* unhurried<T>(steps: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  let began = performance.now();
  for await (const step of steps) {
    yield step;
    await rest(performance.now() - began, signal);
    if (signal.aborted) return;
    began = performance.now();
  }
}
