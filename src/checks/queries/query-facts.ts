/** Which query: its id, and where and by which role it ran. */
export interface QueryPlace {
  /** PostgreSQL: the queryid. MySQL: the digest. */
  query: string;
  /** PostgreSQL: the database. MySQL: the default schema. '' if it has none. */
  database: string;
  /** PostgreSQL: the role. '' in MySQL, which does not tell. */
  role: string;
}

/** What a query did, in all or between two runs. */
export interface QueryWork {
  calls: number;
  seconds: number;
  /** Rows returned and changed. */
  rows: number;
  /** PostgreSQL: blocks that were not in shared buffers. MySQL: rows examined. */
  read: number;
  /** PostgreSQL: blocks found in shared buffers. MySQL: 0. */
  hit: number;
  /** PostgreSQL: temporary bytes written. MySQL: temporary tables on disk. */
  temporary: number;
}

/** What a query did between two runs. */
export interface QueryGrowth extends QueryPlace, QueryWork {}

/** How a query usually was, in the two weeks that ended 24 hours ago. */
interface UsualQuery {
  /** Seconds of one call: the median of the days. */
  mean: number;
  /** The days on which it was among the queries with the most time. */
  days: number;
}

/** What a run knows of the server's queries. */
export interface QueryFacts {
  /** Why the statistics lack some queries, as a sentence; absent if they lack none. */
  overflow?: string;
  /** Statements of a backup, those that only wait for a lock, and those that read only the server's catalogue: none of them is a query to make faster. */
  setAside?: ReadonlySet<string>;
  /** PostgreSQL: the quoted schema of pg_stat_statements. */
  schema: string;
  /** Seconds since the last run. */
  seconds: number;
  /** What ran since the last run, most time first. */
  grown: QueryGrowth[];
  /** What ran in the last 30 to 90 minutes, this run included, most time first. */
  recent: QueryGrowth[];
  /** The time of all queries in these minutes, in seconds. */
  recentSeconds: number;
  /** Those of the two weeks before, each by its {@link placeKey}. */
  usual: ReadonlyMap<string, UsualQuery>;
  /** The days before the last 24 hours for which there is history, 14 at most. */
  historyDays: number;
  /** There were more queries in that time than {@link QueryFacts.usual} has. */
  usualIsCut: boolean;
}

/** What ran of a list of {@link QueryFacts}, without what is set aside. */
export function selectWork(facts: QueryFacts, list: 'grown' | 'recent'): QueryGrowth[] {
  return facts[list].filter(({ query }) => !facts.setAside?.has(query));
}

/** One name for a query and its place, as the key of a map. */
export function placeKey({ query, database, role }: QueryPlace): string {
  return JSON.stringify([query, database, role]);
}

/** Adds up what the same query did in the same place, most time first. */
export function addUp(work: readonly QueryGrowth[]): QueryGrowth[] {
  const sums = new Map<string, QueryGrowth>();
  for (const one of work) {
    const sum = sums.get(placeKey(one));
    if (!sum) {
      sums.set(placeKey(one), { ...one });
      continue;
    }
    for (const name of COUNTERS) sum[name] += one[name];
  }
  return [...sums.values()].sort((one, other) => other.seconds - one.seconds);
}

/** The names of what is counted. */
export const COUNTERS = ['calls', 'seconds', 'rows', 'read', 'hit', 'temporary'] as const;
