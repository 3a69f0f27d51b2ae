import type { QueryGrowth } from '../../checks/queries/query-facts.ts';

/** What a run needs of the queries before it. Plain data, because a pipe sends it to a child process. */
export interface QueryInstructions {
  /** The packed state of the last run, base64; null = there is none. */
  state: string | null;
  /** {@link StoredUsual} as JSON; null = no history. */
  usual: string | null;
  /** {@link StoredRecent} as JSON; null = nothing. */
  recent: string | null;
  /** The queries whose text is stored already; null = texts are not read. */
  texts: string[] | null;
}

/** A query, with a few of its numbers, as a tuple because there are many. */
export type StoredUsual = {
  /** Days from the first hour to 24 hours ago. */
  days: number;
  isCut: boolean;
  /** query, database, role, seconds of a call, days. */
  queries: [string, string, string, number, number][];
};

/** What the store has of the last 30 to 90 minutes. */
export interface StoredRecent {
  seconds: number;
  /** query, database, role, calls, seconds, rows, read, hit, temporary. */
  queries: [string, string, string, number, number, number, number, number, number][];
}

/** What a run reports of queries. */
export interface QueryReport {
  /** The packed state for the next run, base64. */
  state: string;
  /** What ran since the last run: those with the most time, and the sums of all. */
  grown: QueryGrowth[];
  calls: number;
  seconds: number;
  /** Texts that were read, of queries that had none: query, text. */
  texts: [string, string][];
  /** MySQL, of those with the most time: queries on the server's catalogue. A collector of an older version does not say. */
  catalogue?: string[];
}
