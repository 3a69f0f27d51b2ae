import { useEffect, useRef } from 'react';

/** Longer than React Aria takes to give the focus back to what opened a dialog. */
const GIVEN_BACK_MS = 150;

/**
 * When the last of several dialogs closes and what opened them is gone, or goes once the page has its news, the title gets
 * the focus: it must not be lost. Whoever goes elsewhere by themselves is left alone from then on.
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
