import { useSyncExternalStore } from 'react';

/**
 * A choice that this browser keeps, by default the first one. Where storage is blocked, it lasts as long as the window. `apply` is
 * called with each choice.
 */
export function storedChoice<Choice extends string>(
  key: string,
  choices: readonly [Choice, ...Choice[]],
  apply: (choice: Choice) => void = () => {},
) {
  const listeners = new Set<() => void>();
  let [chosen] = choices;
  const get = () => chosen;
  const change = (choice: Choice) => {
    chosen = choice;
    apply(choice);
  };
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    /** Applies what the browser keeps, before the first render. */
    start(): void {
      const kept = choices.find((choice) => choice === stored(() => localStorage.getItem(key)));
      if (kept !== undefined) change(kept);
    },
    set(choice: Choice): void {
      change(choice);
      for (const listener of listeners) listener();
      stored(() => localStorage.setItem(key, choice));
    },
    /** A component that calls it renders again with another choice. */
    useChoice: (): Choice => useSyncExternalStore(subscribe, get),
  };
}

/** Undefined where storage is blocked. */
function stored<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
