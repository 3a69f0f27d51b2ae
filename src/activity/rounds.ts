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
