/** The page's search parameters: what is open. */
export interface ChecksSearch {
  /** The form for a new check. */
  add?: '1' | undefined;
  /** The id of the check that is open. */
  check?: string | undefined;
}

const CHECK = /^[A-Z][A-Z0-9_]{0,39}$/;

/** Parses an untrusted URL. */
export function checksSearch(given: Record<string, string>): ChecksSearch {
  if (given['add'] === '1') return { add: '1' };
  return given['check'] && CHECK.test(given['check']) ? { check: given['check'] } : {};
}
