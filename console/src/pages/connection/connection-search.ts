const STATUSES = ['critical', 'warning', 'info', 'error', 'skipped', 'ok'] as const;

/** What the address of the page holds. */
export interface ConnectionSearch {
  /** Findings of one status; without it all but those that are skipped or ok. */
  status?: (typeof STATUSES)[number];
  /** The finding that is open, by `findingAnchor`; `none` for none, without it the worst one. */
  finding?: string;
}

/** Reads it from an address that anyone may have written. */
export function connectionSearch(given: Record<string, string | undefined>): ConnectionSearch {
  const status = STATUSES.find((word) => word === given['status']);
  const finding = given['finding']?.slice(0, 400);
  return { ...(status && { status }), ...(finding && { finding }) };
}
