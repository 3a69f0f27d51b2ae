const PRESSABLE = 'button, label, summary, a[href]';

/**
 * Leaves the focus in a field of a form until the mouse button is released over what was pressed. A field is validated when
 * it loses the focus: its error appears or disappears, everything below moves, and the release would miss the target.
 */
export function keepFocusWhilePressed(): void {
  let pressed: HTMLElement | null = null;
  const onMouseDown = (event: MouseEvent) => {
    pressed = null;
    const { activeElement: field } = document;
    if (event.button !== 0 || !(event.target instanceof Element) || !isInForm(field)) return;
    const target = event.target.closest<HTMLElement>(PRESSABLE);
    if (!target || target.contains(field)) return;
    event.preventDefault();
    pressed = target;
  };
  // Before the listeners of components, which may stop the event.
  document.addEventListener('mousedown', onMouseDown, true);
  document.addEventListener(
    'click',
    ({ target }) => {
      // A label gives its own control the focus.
      if (target instanceof Node && pressed?.contains(target) && pressed.tagName !== 'LABEL')
        pressed.focus({ preventScroll: true });
      pressed = null;
    },
    true,
  );
}

function isInForm(element: Element | null): boolean {
  return (
    (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) && element.form !== null
  );
}
