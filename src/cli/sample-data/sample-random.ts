/** A number from 0 to 1, the same for the same state (mulberry32). */
export function randomNumber(state: number): number {
  const seen = (state + STEP) >>> 0;
  let mixed = Math.imul(seen ^ (seen >>> 15), seen | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

const STEP = 0x6d2b79f5;

/** Numbers from 0 to 1, the same for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    const number = randomNumber(state);
    state = (state + STEP) >>> 0;
    return number;
  };
}

/** The item of a list at a fraction of its length, 0 to 1. */
export function pick<T>(list: readonly T[], share: number): T {
  const item = list[Math.floor((share % 1) * list.length)];
  if (item === undefined) throw new Error('There is nothing to pick from.');
  return item;
}
