import type { Skipped } from '../../checks/check.ts';
import { numberIn } from '../../checks/columns.ts';
import type { Row } from '../../checks/fault.ts';
import {
  addUp,
  placeKey,
  type QueryFacts,
  type QueryGrowth,
  type QueryWork,
} from '../../checks/queries/query-facts.ts';
import {
  ENTRY_LIMIT,
  mysqlStatistics,
  PARTS,
  postgresStatistics,
  type Seen,
} from '../../checks/queries/statistics-sql.ts';
import { schemaOfExtension } from '../../checks/rows.ts';
import { counted } from '../../checks/wording.ts';
import { type Entry, entriesIn, growthSince } from '../../runs/queries/compare-states.ts';
import type {
  QueryInstructions,
  QueryReport,
  StoredRecent,
  StoredUsual,
} from '../../runs/queries/query-run.ts';
import {
  mostTime,
  packState,
  partOf,
  type QueryState,
  seenIn,
  unpackState,
} from '../../runs/queries/query-state.ts';
import { mysqlTexts, postgresTexts, textsIn } from '../../runs/queries/query-texts-sql.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { describeError } from '../session/failures/connect-failure.ts';
import type { Session } from '../session/session.ts';
import { judgeQueries, readMysqlSetAside, selectSetAside } from './set-aside.ts';
import {
  incomparable,
  missingInMysql,
  missingInPostgres,
  older,
  skip,
  unconvertible,
} from './unread-queries.ts';

/** What a run reports: an hour keeps 50 of its queries, which several runs bring together. */
const REPORTED = 200;

/** The texts that are read in a run. */
const TEXTS = 50;

/** After this time between two runs a growth is one of no hour. */
const LONGEST_SECONDS = 2 * 86_400;

type Found = QueryFacts | Skipped;

/** SQLSTATEs: a function, a column or a view is missing. */
const OLDER = new Set(['42883', '42703', '42P01']);

/** Reads what queries did, once in a run, for all checks that judge queries and for the store. */
export class QueryReader {
  report: QueryReport | null = null;
  readonly #engine: Engine;
  readonly #given: QueryInstructions;
  #found: Found | null = null;
  #failure: unknown = null;

  constructor(engine: Engine, given: QueryInstructions) {
    this.#engine = engine;
    this.#given = given;
  }

  /** What the queries of the server did. Throws if they can't be read, the same error for each caller. */
  async facts(session: Session, database: string): Promise<Found> {
    if (this.#failure) throw this.#failure;
    try {
      this.#found ??= await this.#read(session, database);
      return this.#found;
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #read(session: Session, database: string): Promise<Found> {
    const isPostgres = this.#engine === 'postgres';
    const packed = this.#given.state;
    const last = packed === null ? null : unpackState(Buffer.from(packed, 'base64'));
    const schema = isPostgres
      ? await schemaOfExtension('pg_stat_statements', (statement) => session.read(statement))
      : 'performance_schema';
    if (schema === undefined) return skip(`pg_stat_statements is not installed in database ${database}`);
    const read = (seen: Seen | null) =>
      session.read(isPostgres ? postgresStatistics(schema, seen) : mysqlStatistics(seen));

    let seen = last && seenIn(last);
    let rows = await read(seen).catch((error: unknown) => {
      if (isPostgres && OLDER.has(describeError(error).code)) return null;
      throw error;
    });
    if (rows === null) return older(database);
    let first = firstOf(rows);
    const missing = isPostgres ? missingInPostgres(first) : missingInMysql(first);
    if (missing) return missing;
    const isComparable = last !== null && sameServer(last, headOf(first));
    if (seen && !isComparable) {
      seen = null;
      rows = await read(null);
      first = firstOf(rows);
    }
    const head = headOf(first);
    const entries = entriesIn(rows).slice(0, ENTRY_LIMIT);
    const seconds = last ? head.at - last.at : 0;
    const grown = isComparable && seconds <= LONGEST_SECONDS ? addUp(growthSince(last, entries)) : [];
    const state = nextState(head, entries, seen ? last : null, seen?.part ?? 0);
    const { judged, isReadable } = isPostgres
      ? await judgeQueries(session, schema, { ...state, grown })
      : { judged: state.judged, isReadable: true };
    this.#report({ ...state, judged }, grown);
    await this.#readTexts(session, schema, grown);
    if (last === null || !isComparable) return incomparable(isPostgres, last, head);
    // Another library may identify queries in its place: then there are some.
    if (first['identifies'] === false && grown.length === 0)
      return skip('compute_query_id is off, so pg_stat_statements counts no query; set it to auto');
    if (!isReadable) return unconvertible(database);
    const overflow = describeOverflow(isPostgres, last, head);
    const history = this.#history(grown);
    const setAside = isPostgres
      ? selectSetAside(judged)
      : await this.#setAside(session, grown, history.recent);
    return {
      ...history,
      schema,
      seconds,
      grown,
      setAside,
      ...(overflow !== null && { overflow }),
    };
  }

  /** Of MySQL and MariaDB. */
  async #setAside(
    session: Session,
    grown: readonly QueryGrowth[],
    recent: readonly QueryGrowth[],
  ): Promise<ReadonlySet<string>> {
    if (recent.length === 0) return new Set();
    const { setAside, catalogue } = await readMysqlSetAside(session, this.#engine, [...grown, ...recent]);
    if (this.report) this.report.catalogue = catalogue;
    return setAside;
  }

  #report(state: QueryState, grown: readonly QueryGrowth[]): void {
    const sum = (name: 'calls' | 'seconds') => grown.reduce((all, one) => all + one[name], 0);
    this.report = {
      state: packState(state).toString('base64'),
      grown: grown.slice(0, REPORTED),
      calls: sum('calls'),
      seconds: sum('seconds'),
      texts: [],
    };
  }

  /** A text that can't be read stays unknown: nothing depends on it. */
  async #readTexts(session: Session, schema: string, grown: readonly QueryGrowth[]): Promise<void> {
    const { texts: known } = this.#given;
    if (known === null || !this.report) return;
    const stored = new Set(known);
    const wanted = [...new Set(grown.map(({ query }) => query))].filter((query) => !stored.has(query));
    if (wanted.length === 0) return;
    const some = wanted.slice(0, TEXTS);
    const statement = this.#engine === 'postgres' ? postgresTexts(schema, some) : mysqlTexts(some);
    const rows = await session.read(statement).catch(() => []);
    this.report.texts = textsIn(this.#engine, rows, new Set(some));
  }

  #history(grown: readonly QueryGrowth[]): Omit<QueryFacts, 'schema' | 'seconds' | 'grown'> {
    const { usual, recent } = this.#given;
    const { days, isCut, queries }: StoredUsual = JSON.parse(usual ?? NO_HISTORY);
    const stored: StoredRecent = JSON.parse(recent ?? NOTHING_RECENT);
    const before = stored.queries.map(
      ([query, database, role, calls, seconds, rows, read, hit, temporary]): QueryGrowth => ({
        query,
        database,
        role,
        calls,
        seconds,
        rows,
        read,
        hit,
        temporary,
      }),
    );
    return {
      recent: addUp([...before, ...grown]),
      recentSeconds: stored.seconds + (this.report?.seconds ?? 0),
      usual: new Map(
        queries.map(([query, database, role, mean, seen]) => [
          placeKey({ query, database, role }),
          { mean, days: seen },
        ]),
      ),
      historyDays: days,
      usualIsCut: isCut,
    };
  }
}

const NO_HISTORY = '{"days": 0, "isCut": false, "queries": []}';
const NOTHING_RECENT = '{"seconds": 0, "queries": []}';

type Head = Pick<QueryState, 'at' | 'server' | 'reset' | 'lost'>;

/** The row that has the server's own facts: MySQL's rows all have them, of PostgreSQL's only one. */
function firstOf(rows: readonly Row[]): Row {
  return rows.find(({ at }) => at !== null) ?? {};
}

function headOf(first: Row): Head {
  const { server, reset = null, lost } = first;
  return {
    at: numberIn(first, 'at'),
    server: String(server),
    reset: reset === null ? null : String(reset),
    lost: typeof lost === 'number' ? lost : null,
  };
}

/** Why the statistics lack what ran since the last run; null if they lack nothing. */
function describeOverflow(isPostgres: boolean, last: QueryState, head: Head): string | null {
  // A server that had lost nothing shows no number.
  const lost = (head.lost ?? 0) - (last.lost ?? head.lost ?? 0);
  if (lost <= 0) return null;
  return isPostgres
    ? `pg_stat_statements was full ${counted(lost, 'time')} since the last run and removed queries; raise pg_stat_statements.max`
    : `the table of digests is full and left out ${counted(lost, 'statement')} since the last run; raise performance_schema_digests_size`;
}

function sameServer(last: Head, now: Head): boolean {
  return last.server === now.server && last.reset === now.reset && now.at >= last.at;
}

/** `last` is the state that these entries moved from, and `part` the part that was read; null if they are all entries. */
function nextState(head: Head, entries: readonly Entry[], last: QueryState | null, part: number): QueryState {
  const isCut = entries.length === ENTRY_LIMIT;
  // Those of the part that was read are on the server still, or were removed.
  const kept = [...(last?.entries ?? [])].filter(([entry]) => isCut || partOf(entry) !== part);
  const counted = entries.map(
    ({ entry, calls, seconds, rows, read, hit, temporary }): [string, QueryWork] => [
      entry,
      { calls, seconds, rows, read, hit, temporary },
    ],
  );
  const all = new Map([...kept, ...counted]);
  const areTooMany = isCut || all.size > ENTRY_LIMIT;
  return {
    ...head,
    part,
    unreadParts: areTooMany ? PARTS : Math.max(0, (last?.unreadParts ?? 0) - 1),
    entries: mostTime(all),
    judged: last?.judged ?? new Map(),
  };
}
