import { matching, oneOf, present } from '../../parts/search-params.ts';

/** The page's search parameters: the form for a new check, or the id of the check that is open. */
export type ChecksSearch = ReturnType<typeof checksSearch>;

const CHECK = /^[A-Z][A-Z0-9_]{0,39}$/;

/** Parses an untrusted URL. */
export function checksSearch(given: Record<string, string>) {
  const add = oneOf(['1'], given['add']);
  return present({ add, check: add ? undefined : matching(CHECK, given['check']) });
}
