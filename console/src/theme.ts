import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const STORAGE_KEY = 'dbvitals-theme';
const listeners = new Set<() => void>();
let chosen: Theme = 'system';

function apply(theme: Theme): void {
  chosen = theme;
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Applies the theme saved in this browser, else the device's, before the first render. */
export function startTheme(): void {
  try {
    const kept = localStorage.getItem(STORAGE_KEY);
    if (kept === 'light' || kept === 'dark') apply(kept);
  } catch {
    // Storage may be blocked. Then the choice lasts as long as the window.
  }
}

/** Saves the choice in this browser. */
export function setTheme(theme: Theme): void {
  apply(theme);
  for (const listener of listeners) listener();
  try {
    localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // As above.
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => chosen);
}
