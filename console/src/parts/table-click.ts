import type { MouseEvent as ReactMouseEvent } from 'react';

/**
 * A click anywhere in a row follows the row's `.row-link`. No link covers the row, so its text can be selected and
 * tooltips work. Selecting text and clicking other controls open nothing.
 */
export function onRowClick(event: ReactMouseEvent): void {
  const { target, ctrlKey, metaKey, shiftKey } = event;
  if (getSelection()?.isCollapsed === false) return;
  follow(target, { ctrlKey, metaKey, shiftKey });
}

/** The middle button opens the row's link in a new tab, as on a link. */
export function onRowAuxClick(event: ReactMouseEvent): void {
  if (event.button === 1) follow(event.target, { ctrlKey: true, metaKey: true });
}

function follow(target: EventTarget, keys: MouseEventInit): void {
  if (!(target instanceof Element) || target.closest('a, button, input, label, summary')) return;
  const link = target.closest('.table-row')?.querySelector('.row-link');
  link?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ...keys }));
}
