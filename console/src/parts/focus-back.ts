import { useEffect, useRef } from 'react';

/**
 * Returns the focus to what opened the panel beside a list when the panel is closed: the link `KIND-ID`. Not from a filter that closes
 * it, where the next key belongs to the filter. Call the result before closing the panel itself.
 */
export function useFocusBack(open: string | undefined, kind: string): () => void {
  const last = useRef(open);
  const isClosing = useRef(false);
  useEffect(() => {
    const { activeElement, body } = document;
    const isFree = isClosing.current || activeElement === null || activeElement === body;
    if (last.current && !open && isFree) document.getElementById(`${kind}-${last.current}`)?.focus();
    last.current = open;
    isClosing.current = false;
  }, [open, kind]);
  return () => {
    isClosing.current = true;
  };
}
