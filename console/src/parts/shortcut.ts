import { useEffect, useRef } from 'react';

/** Whether the focused element uses the key itself: a text field, or anything in a dialog or menu. */
function isTaken(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest(
        'input, textarea, select, [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]',
      ) !== null)
  );
}

/** Calls `run` when a key is pressed anywhere on the page, except in a text field or while a dialog is open. Off, it leaves the key to others. */
export function useShortcut(key: string, run: () => void, isOn = true): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (!isOn) return;
    const listen = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
        return;
      if (isTaken(event.target) || document.querySelector('.shade')) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [key, isOn]);
}
