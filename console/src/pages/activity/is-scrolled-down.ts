import { useEffect, useState } from 'react';

/** Whether the page is scrolled down so far that new entries would move what the person reads. */
export function useIsScrolledDown(): boolean {
  const [isDown, setDown] = useState(false);
  useEffect(() => {
    const look = () => setDown(scrollY > innerHeight / 2);
    look();
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  return isDown;
}
