import { type RefObject, useEffect, useRef, useState } from 'react';

/** The top of an element on the page, in pixels; updated when the height above it changes. */
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

/**
 * Calls `onEnd` once per `rows` when the element at their end, which gets the returned ref, is less than a screen away.
 * Uses an observer: reading its position forces a layout, which took a sixth of the time of a fast scroll (measured).
 */
export function useEnd(rows: string, onEnd: (() => void) | undefined): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  const call = useRef(onEnd);
  useEffect(() => {
    call.current = onEnd;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows have another end, which is looked at anew
  useEffect(() => {
    if (!end.current) return;
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting) return;
        observer.disconnect();
        call.current?.();
      },
      { rootMargin: '0px 0px 100% 0px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [rows]);
  return end;
}
