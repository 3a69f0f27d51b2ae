import { useEffect, useRef } from 'react';

/** Longer than React Aria takes to give the focus back to what opened a dialog. */
const GIVEN_BACK_MS = 150;

/** When the last of several dialogs closes and what opened them is gone, the title gets the focus: it must not be lost. */
export function useKeptFocus(isOpen: boolean): void {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    const closed = wasOpen.current && !isOpen;
    wasOpen.current = isOpen;
    if (!closed) return;
    const timer = setTimeout(() => {
      const { activeElement, body } = document;
      if (activeElement === null || activeElement === body) {
        document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
      }
    }, GIVEN_BACK_MS);
    return () => clearTimeout(timer);
  }, [isOpen]);
}
