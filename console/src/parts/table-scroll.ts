import { type RefObject, useEffect, useRef, useState } from 'react';

/** Where an element begins on the page, in pixels; renewed when something above it changes its height. */
export function useTop(element: RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useEffect(() => {
    const measure = () => {
      if (element.current) setTop(Math.round(element.current.getBoundingClientRect().top + scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);
  return top;
}

/** Calls `onEnd` once for the same rows, when their end is less than a screen away. */
export function useEnd(
  body: RefObject<HTMLElement | null>,
  rows: string,
  onEnd: (() => void) | undefined,
): void {
  const told = useRef<string | null>(null);
  useEffect(() => {
    if (!onEnd) return;
    const look = () => {
      const bottom = body.current?.getBoundingClientRect().bottom ?? Number.POSITIVE_INFINITY;
      if (bottom > innerHeight * 2 || told.current === rows) return;
      told.current = rows;
      onEnd();
    };
    look();
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  });
}
