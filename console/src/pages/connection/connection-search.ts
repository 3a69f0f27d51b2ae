import { FINDING_STATUSES, type FindingStatus } from '../../../../src/vocabulary/severities.ts';

/** The page's search parameters. */
export interface ConnectionSearch {
  /** Findings of one status; by default all except skipped and ok. */
  status?: FindingStatus;
  /** The open finding, by `findingAnchor`; `none` for none; by default the worst one. */
  finding?: string;
}

/** Parses an untrusted URL. */
export function connectionSearch(given: Record<string, string | undefined>): ConnectionSearch {
  const status = FINDING_STATUSES.find((word) => word === given['status']);
  const finding = given['finding']?.slice(0, 400);
  return { ...(status && { status }), ...(finding && { finding }) };
}
