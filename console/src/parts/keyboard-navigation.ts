import type { KeyboardEvent, RefObject } from 'react';
import { useShortcut } from './shortcut.ts';

/** The row that has the focus; -1 when none has. */
export function focusedRow(): number {
  const item = document.activeElement?.closest('.table-item');
  return item ? Number(item.getAttribute('data-index')) : -1;
}

/** Gives a row the focus; one far away is drawn some frames after it was scrolled to. */
export function focusRow(body: RefObject<HTMLElement | null>, index: number, frames = 20): void {
  const item = body.current?.querySelector(`.table-item[data-index="${index}"]`);
  const target = item?.querySelector<HTMLElement>('.row-link, a, button');
  if (target) target.focus();
  else if (frames > 0) requestAnimationFrame(() => focusRow(body, index, frames - 1));
}

/** The arrows go from row to row while a row's link has the focus. */
export function onArrow(event: KeyboardEvent, goTo: (index: number) => void): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const inRows = event.target instanceof HTMLElement && event.target.matches('.row-link');
  if (!step || !inRows) return;
  event.preventDefault();
  goTo(focusedRow() + step);
}

/** `j` and `k` anywhere on the page: to the row after and before the one at `at`. */
export function useKeyboardNavigation(
  isOn: boolean,
  at: RefObject<number>,
  goTo: (index: number) => void,
): void {
  useShortcut('j', () => isOn && goTo(at.current + 1));
  useShortcut('k', () => isOn && goTo(Math.max(0, at.current - 1)));
}
