/** A person or the system ended a command's work. */
export class Interrupted extends Error {}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs `work` with a signal that SIGINT, SIGTERM and SIGHUP abort, so that it leaves nothing half done. `reason` is the sentence
 * of the error. The second signal ends the process.
 */
export async function interruptible<T>(
  reason: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const interrupted = new AbortController();
  const abort = () => interrupted.abort(new Interrupted(reason));
  for (const name of SIGNALS) process.once(name, abort);
  try {
    return await work(interrupted.signal);
  } finally {
    for (const name of SIGNALS) process.removeListener(name, abort);
  }
}
