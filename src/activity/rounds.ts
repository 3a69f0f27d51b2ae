import { setTimeout as wait } from 'node:timers/promises';

/** Work that comes again and again. */
export interface Rounds {
  /** Lets the step under way end and begins no other. */
  stop(): Promise<void>;
}

/** Runs `work` after `first` milliseconds, then `every` so many after it ended. `work` never throws and ends soon after its signal. */
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

/** Waits, or until the signal. */
export async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {});
}
