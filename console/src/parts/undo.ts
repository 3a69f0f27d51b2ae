import { notify, notifyFailure } from './announcer.tsx';

/** How long the key `z` undoes: longer than the notice is shown. */
const KEPT_MS = 60_000;

let last: (() => void) | null = null;

/**
 * Says what was done, with a button that undoes it. For a minute {@link undoLast} does the same. `undo` runs at most once
 * and returns what it says then, or throws why nothing was undone.
 */
export function offerUndo(done: string, undo: () => Promise<string>): void {
  let isOffered = true;
  const forget = () => {
    if (last === run) last = null;
  };
  const run = () => {
    if (!isOffered) return;
    isOffered = false;
    forget();
    undo().then(notify, (error: unknown) =>
      notifyFailure(`Not undone. ${error instanceof Error ? error.message : 'Try again later.'}`),
    );
  };
  last = run;
  setTimeout(forget, KEPT_MS);
  notify(done, { label: 'Undo', onAction: run });
}

/** Forgets what was offered: it is not for the next person who signs in. */
export function forgetUndo(): void {
  last = null;
}

/** Undoes what was offered last. */
export function undoLast(): void {
  last?.();
}
