import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { usePhone } from './use-media.ts';

/** The rows to show: all of them, or on a phone the first few with a button for the others. */
export function useFirstRows<T>(all: readonly T[], onPhone: number): { rows: readonly T[]; more: ReactNode } {
  const isPhone = usePhone();
  const [showsAll, setShowsAll] = useState(false);
  const rows = isPhone && !showsAll ? all.slice(0, onPhone) : all;
  const more = rows.length < all.length && (
    <div>
      <Button onPress={() => setShowsAll(true)}>Show all {all.length}</Button>
    </div>
  );
  return { rows, more };
}
