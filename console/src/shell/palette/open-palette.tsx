import { lazy, Suspense, useEffect } from 'react';

const Palette = lazy(() => import('./palette.tsx').then((module) => ({ default: module.Palette })));

interface OpenPaletteProps {
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  onShortcuts: () => void;
}

/** The command palette behind Ctrl+K, or ⌘K. Its code is loaded when it is opened first. */
export function OpenPalette({ isOpen, onOpenChange: setOpen, onShortcuts }: OpenPaletteProps) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isAsked = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
      if (!isAsked || event.altKey || event.shiftKey || event.defaultPrevented) return;
      // The browser's own meaning is a search elsewhere, even while a dialog is open.
      event.preventDefault();
      if (!document.querySelector('.shade')) setOpen(true);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [setOpen]);
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <Palette onClose={() => setOpen(false)} onShortcuts={onShortcuts} />
    </Suspense>
  );
}
