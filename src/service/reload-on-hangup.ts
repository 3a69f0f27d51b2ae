type Log = (fields: object, message: string) => void;

/** A file that is read again while the process runs. */
export interface Reload {
  /** What stands in it, such as the secret keys: it begins the lines of the log. */
  readonly what: string;
  /** Reads the file and uses it. Returns facts for the log; null = nothing changed. If it throws, nothing changed either. */
  reload(): Promise<object | null>;
}

/** Whether a SIGHUP came since {@link expectHangup}. */
let isHungUp = false;

/**
 * Call it before a process reads its files. A SIGHUP no longer ends the process, and one that comes during the start is followed as
 * soon as the start is complete.
 */
export function expectHangup(): void {
  process.on('SIGHUP', () => {
    isHungUp = true;
  });
}

/** Reads files again on SIGHUP, one after the other. A line says what was used, or why the old contents stay. */
export function reloadOnHangup(
  reloads: readonly Reload[],
  log: { info: Log; error: Log },
): { stop(): Promise<void> } {
  const reloadEach = async () => {
    for (const { what, reload } of reloads) {
      try {
        const facts = await reload();
        if (facts) log.info(facts, `${what}: using those that the file has now`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown';
        log.error({ reason }, `${what}: keeping the old ones`);
      }
    }
  };
  let reloading = Promise.resolve();
  const look = () => {
    reloading = reloading.then(reloadEach);
  };
  process.on('SIGHUP', look);
  if (isHungUp) look();
  return {
    async stop() {
      process.off('SIGHUP', look);
      await reloading;
    },
  };
}
