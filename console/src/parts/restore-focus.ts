import { useEffect, useRef } from 'react';

/** Longer than React Aria takes to return the focus after a dialog. */
const GIVEN_BACK_MS = 150;

/**
 * When the last dialog closes and its opener no longer exists, or disappears with the next data, the title gets the
 * focus, so that the focus is not lost. Stops as soon as the person moves the focus.
 */
export function useRestoredFocus(isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    const closed = wasOpen.current && !isOpen;
    wasOpen.current = isOpen;
    if (!closed) return;
    const moved = new AbortController();
    const keep = () => {
      const { activeElement, body } = document;
      if (activeElement !== null && activeElement !== body) return;
      document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(keep);
    const stop = () => {
      observer.disconnect();
      moved.abort();
    };
    const timer = setTimeout(() => {
      keep();
      observer.observe(document.body, { childList: true, subtree: true });
      for (const step of ['focusin', 'pointerdown']) {
        document.addEventListener(step, stop, { signal: moved.signal });
      }
    }, GIVEN_BACK_MS);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [isOpen]);
}
