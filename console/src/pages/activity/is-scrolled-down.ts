import { useEffect, useState } from 'react';

/** Whether the page is scrolled so far down that entries above would push away what is read. */
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
