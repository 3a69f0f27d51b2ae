import { CHANGE_KINDS } from '../../../../src/platform/text/change-text.ts';
import { CONNECTION_TABS, type ConnectionTab } from '../../../../src/vocabulary/connection-tabs.ts';
import { FINDING_STATUSES, type FindingStatus } from '../../../../src/vocabulary/severities.ts';
import { type RangeSearch, rangeSearch } from '../../parts/chart/chart-range.ts';

/** The page's search parameters. */
export interface ConnectionSearch extends RangeSearch {
  /** The open tab; by default the one that the other parameters belong to, or the overview. */
  tab?: ConnectionTab;
  /** Findings of one status; by default all except skipped and ok. */
  status?: FindingStatus;
  /** The open finding, by `findingAnchor`; `none` for none; by default the worst one. */
  finding?: string;
  /** Changes of one kind; all by default. */
  change?: string;
  /** The ids of two runs to compare, `FROM-TO`. */
  compare?: string;
  /** The open dialog: it changes the tags, or the settings. */
  edit?: 'tags' | 'settings';
  /** The query whose page is open, by its id or digest. */
  query?: string | undefined;
  /** Queries of one database, of one role, and of one application. */
  database?: string | undefined;
  role?: string | undefined;
  application?: string | undefined;
  /** Lists the queries of dbvitals' own login too. */
  own?: 'shown' | undefined;
}

/** The ids of two runs, the earlier one first. */
export interface ComparedRuns {
  from: number;
  to: number;
}

const EDITS = ['tags', 'settings'] as const;
/** As long as the store keeps a name of a watched server. */
const NAME = 100;
const QUERY = /^-?[0-9a-f]{1,64}$/i;
const RUNS = /^([1-9]\d{0,14})-([1-9]\d{0,14})$/;

/** The runs that `compare` names; null if it names none. */
export function comparedRuns(compare: string | undefined): ComparedRuns | null {
  const [, from, to] = RUNS.exec(compare ?? '') ?? [];
  return Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : null;
}

/** The tab that an address opens. */
export function openTab(search: ConnectionSearch): ConnectionTab {
  if (search.tab) return search.tab;
  if (search.finding ?? search.status) return 'findings';
  if (search.query) return 'queries';
  if (search.compare ?? search.change) return 'changes';
  return (search.range ?? search.from ?? search.to) ? 'charts' : 'overview';
}

/** Parses an untrusted URL. */
export function connectionSearch(given: Record<string, string | undefined>): ConnectionSearch {
  const tab = CONNECTION_TABS.find((name) => name === given['tab']);
  const status = FINDING_STATUSES.find((word) => word === given['status']);
  const finding = given['finding']?.slice(0, 400);
  const { compare, query } = given;
  const edit = EDITS.find((dialog) => dialog === given['edit']);
  const [database, role, application] = ['database', 'role', 'application'].map((name) =>
    given[name]?.slice(0, NAME),
  );
  const change = CHANGE_KINDS.find((kind) => kind === given['change']);
  return {
    ...(tab && { tab }),
    ...(status && { status }),
    ...(finding && { finding }),
    ...(change && { change }),
    ...(compare !== undefined && comparedRuns(compare) && { compare }),
    ...(edit && { edit }),
    ...(query !== undefined && QUERY.test(query) && { query }),
    ...(database && { database }),
    ...(role && { role }),
    ...(application && { application }),
    ...(given['own'] === 'shown' && { own: 'shown' as const }),
    ...rangeSearch(given),
  };
}

/** The list that a query's page was opened from, except its role and database: those of the address are the query's. */
export function listSearch({ range, from, to, application, own }: ConnectionSearch): ConnectionSearch {
  return connectionSearch({ tab: 'queries', range, from, to, application, own });
}
