import { useEffect, useState } from 'react';

/** The value once it has not changed for some milliseconds. `key` tells values apart that are made anew. */
export function usePaused<Value>(value: Value, ms: number, key: unknown = value): Value {
  const [paused, setPaused] = useState(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a value with the same key is the same
  useEffect(() => {
    const timer = setTimeout(() => setPaused(value), ms);
    return () => clearTimeout(timer);
  }, [key, ms]);
  return paused;
}
