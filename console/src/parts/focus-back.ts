import { useEffect, useRef } from 'react';

/**
 * Returns the focus to what opened the panel beside a list, by its id, when the panel is closed; but not from a filter that closes
 * it, where the next key belongs to the filter. Call the result before closing the panel itself.
 */
export function useFocusBack(open: string | undefined, toLinkId: (id: string) => string): () => void {
  const last = useRef(open);
  const isClosing = useRef(false);
  useEffect(() => {
    const { activeElement, body } = document;
    const isFree = isClosing.current || activeElement === null || activeElement === body;
    if (last.current && !open && isFree) document.getElementById(toLinkId(last.current))?.focus();
    last.current = open;
    isClosing.current = false;
  }, [open, toLinkId]);
  return () => {
    isClosing.current = true;
  };
}
