import { idIn, oneOf, present } from '../../parts/search-params.ts';

/** Parses an untrusted URL: two connections, and whether what is equal is shown too. */
export function compareSearch(given: Record<string, string | undefined>) {
  return present({ a: idIn(given['a']), b: idIn(given['b']), show: oneOf(['all'], given['show']) });
}
