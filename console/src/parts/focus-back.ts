import { useEffect, useRef } from 'react';

/** Returns the focus to what opened the panel beside a list, by its id, when that is closed. */
export function useFocusBack(open: string | undefined, toLinkId: (id: string) => string): void {
  const last = useRef(open);
  useEffect(() => {
    if (last.current && !open) document.getElementById(toLinkId(last.current))?.focus();
    last.current = open;
  }, [open, toLinkId]);
}
