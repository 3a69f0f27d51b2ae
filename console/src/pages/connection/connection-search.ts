import { FINDING_STATUSES, type FindingStatus } from '../../../../src/vocabulary/severities.ts';
import { CHANGE_KINDS } from '../../../../src/vocabulary/values/change-text.ts';
import { type RangeSearch, rangeSearch } from '../../parts/chart/chart-range.ts';

/** The page's search parameters. */
export interface ConnectionSearch extends RangeSearch {
  /** Findings of one status; by default all except skipped and ok. */
  status?: FindingStatus;
  /** The open finding, by `findingAnchor`; `none` for none; by default the worst one. */
  finding?: string;
  /** Changes of one kind; all by default. */
  change?: string;
  /** The ids of two runs to compare, `FROM-TO`. */
  compare?: string;
  /** The open dialog: it changes the tags. */
  edit?: 'tags';
}

/** The ids of two runs, the earlier one first. */
export interface ComparedRuns {
  from: number;
  to: number;
}

const RUNS = /^([1-9]\d{0,14})-([1-9]\d{0,14})$/;

/** The runs that `compare` names; null if it names none. */
export function comparedRuns(compare: string | undefined): ComparedRuns | null {
  const [, from, to] = RUNS.exec(compare ?? '') ?? [];
  return Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : null;
}

/** Parses an untrusted URL. */
export function connectionSearch(given: Record<string, string | undefined>): ConnectionSearch {
  const status = FINDING_STATUSES.find((word) => word === given['status']);
  const finding = given['finding']?.slice(0, 400);
  const { compare } = given;
  const change = CHANGE_KINDS.find((kind) => kind === given['change']);
  return {
    ...(status && { status }),
    ...(finding && { finding }),
    ...(change && { change }),
    ...(compare !== undefined && comparedRuns(compare) && { compare }),
    ...(given['edit'] === 'tags' && { edit: 'tags' }),
    ...rangeSearch(given),
  };
}
