import { useSyncExternalStore } from 'react';

/** Whether a media query matches; renders again when that changes. */
export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}

/** Whether the window is as narrow as a phone: lists show fewer rows at first. */
export function usePhone(): boolean {
  return useMedia('(max-width: 30rem)');
}
