import type { KeyboardEvent, RefObject } from 'react';
import { useShortcut } from './shortcut.ts';

/** Whether the focus is in the panel beside a list, which may have a table of its own. */
export function isInPanel(): boolean {
  return document.activeElement?.closest('.side-panel') != null;
}

/** The index of the focused row of the page's list; -1 when none is focused. */
export function focusedRow(): number {
  const item = isInPanel() ? null : document.activeElement?.closest('.table-item');
  return item ? Number(item.getAttribute('data-index')) : -1;
}

/** Focuses a row. A distant row is drawn some frames after scrolling to it. */
export function focusRow(body: RefObject<HTMLElement | null>, index: number, frames = 20): void {
  const item = body.current?.querySelector(`.table-item[data-index="${index}"]`);
  // A row may have other buttons before its link.
  const target =
    item?.querySelector<HTMLElement>('.row-link') ?? item?.querySelector<HTMLElement>('a, button');
  if (target) target.focus();
  else if (frames > 0) requestAnimationFrame(() => focusRow(body, index, frames - 1));
}

/** The arrow keys move between rows while a row's link is focused. */
export function onArrow(event: KeyboardEvent, goTo: (index: number) => void): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const inRows = event.target instanceof HTMLElement && event.target.matches('.row-link');
  if (!step || !inRows) return;
  event.preventDefault();
  goTo(focusedRow() + step);
}

/** `j` and `k` anywhere on the page move to the row after and before `at`. */
export function useKeyboardNavigation(
  isOn: boolean,
  at: RefObject<number>,
  goTo: (index: number) => void,
): void {
  useShortcut('j', () => goTo(at.current + 1), isOn);
  useShortcut('k', () => goTo(Math.max(0, at.current - 1)), isOn);
}
