import { idIn, present } from '../../parts/search-params.ts';

/** Parses an untrusted URL: the id of a collector to show alone. */
export function collectorsSearch(given: Record<string, string>) {
  return present({ collector: idIn(given['collector']) });
}
