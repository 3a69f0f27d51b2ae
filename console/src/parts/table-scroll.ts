import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Pages } from './more-button.tsx';

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
 * Loads the next of the pages when the element at the end of `rows`, which gets the returned ref, is less than a screen away. It looks anew
 * when the list has loaded something: a page under way is dropped when the list is renewed. One that failed is for a button.
 * Uses an observer: reading its position forces a layout, which took a sixth of the time of a fast scroll (measured).
 */
export function useEnd(rows: string, pages: Pages | undefined): RefObject<HTMLDivElement | null> {
  const end = useRef<HTMLDivElement>(null);
  const fetchNext = pages?.fetchNextPage;
  const canLoad = pages?.hasNextPage && !pages.isFetching && !pages.isFetchNextPageError;
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows have another end, which is looked at anew
  useEffect(() => {
    if (!end.current || !canLoad) return;
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting) return;
        observer.disconnect();
        void fetchNext?.();
      },
      { rootMargin: '0px 0px 100% 0px' },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [rows, canLoad, fetchNext]);
  return end;
}
