import { CHANGE_KINDS } from '../../../../src/platform/text/change-text.ts';
import { CONNECTION_TABS, type ConnectionTab } from '../../../../src/vocabulary/connection-tabs.ts';
import { FINDING_STATUSES } from '../../../../src/vocabulary/severities.ts';
import { rangeSearch } from '../../parts/chart/chart-range.ts';
import { matching, oneOf, present } from '../../parts/search-params.ts';

/** The page's search parameters. */
export type ConnectionSearch = ReturnType<typeof connectionSearch>;

/** The ids of two runs, the earlier one first. */
export interface ComparedRuns {
  from: number;
  to: number;
}

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
export function connectionSearch(given: Record<string, string | undefined>) {
  const { compare } = given;
  return {
    ...present({
      /** The open tab; by default the one that the other parameters belong to, or the overview. */
      tab: oneOf(CONNECTION_TABS, given['tab']),
      /** Findings of one status; by default all except skipped and ok. */
      status: oneOf(FINDING_STATUSES, given['status']),
      /** The open finding, by `findingAnchor`; `none` for none; by default the worst one. */
      finding: given['finding']?.slice(0, 400),
      change: oneOf(CHANGE_KINDS, given['change']),
      /** The ids of two runs to compare, `FROM-TO`. */
      compare: comparedRuns(compare) ? compare : undefined,
      /** The open dialog. */
      edit: oneOf(['tags', 'settings'], given['edit']),
      /** The query whose page is open, by its id or digest. */
      query: matching(QUERY, given['query']),
      database: given['database']?.slice(0, NAME),
      role: given['role']?.slice(0, NAME),
      application: given['application']?.slice(0, NAME),
      /** Queries of sessions without an application name. */
      unnamed: oneOf(['application'], given['unnamed']),
      /** Lists the queries of dbvitals itself too. */
      own: oneOf(['shown'], given['own']),
    }),
    ...rangeSearch(given),
  };
}

/** The list that a query's page was opened from, except its role and database: those of the address are the query's. */
export function listSearch(search: ConnectionSearch): ConnectionSearch {
  const { range, from, to, application, unnamed, own } = search;
  return connectionSearch({ tab: 'queries', range, from, to, application, unnamed, own });
}
