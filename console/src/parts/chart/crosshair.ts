import { useSyncExternalStore } from 'react';

/** The time that all charts of a group point at, in Unix seconds; null for none. */
export class Crosshair {
  #at: number | null = null;
  readonly #listeners = new Set<() => void>();

  readonly at = (): number | null => this.#at;

  move(at: number | null): void {
    if (at === this.#at) return;
    this.#at = at;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** Renders again when the crosshair moves. */
export function usePointedAt(crosshair: Crosshair): number | null {
  return useSyncExternalStore(crosshair.subscribe, crosshair.at);
}
