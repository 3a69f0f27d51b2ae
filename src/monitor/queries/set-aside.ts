import type { Row } from '../../checks/fault.ts';
import { type CatalogueRead, STATISTICS } from '../../checks/queries/catalogue-names.ts';
import { readCatalogueRead } from '../../checks/queries/catalogue-reads.ts';
import type { QueryGrowth } from '../../checks/queries/query-facts.ts';
import {
  mysqlCatalogueTexts,
  mysqlSetAside,
  postgresNames,
  postgresSetAside,
} from '../../checks/queries/statistics-sql.ts';
import type { QueryState } from '../../runs/queries/query-state.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { isUnconvertible } from '../session/failures/connect-failure.ts';
import type { Session } from '../session/session.ts';

/** A query that took less since the last run is not looked at: it is not worth reading the file of texts. Seconds. */
const LEAST_SECONDS = 0.001;

/** The queries whose texts a server of PostgreSQL looks at in a run, those with the most time first. */
const JUDGED = 200;

type Judged = QueryState['judged'];

/** Queries of MySQL and MariaDB that are set aside. */
interface MysqlSetAside {
  setAside: ReadonlySet<string>;
  /** Those that read the server's catalogue, as dbvitals does. */
  catalogue: string[];
}

/** Which queries of MySQL and MariaDB are set aside, of those with the most time in `work`. */
export async function readMysqlSetAside(
  session: Session,
  engine: Engine,
  work: readonly QueryGrowth[],
): Promise<MysqlSetAside> {
  const queries = [...new Set(work.map(({ query }) => query))].slice(0, JUDGED);
  const byForm = await session.read(mysqlSetAside);
  const rows = await session.read(mysqlCatalogueTexts(queries)).catch(() => []);
  const reads = readsIn(engine, rows);
  const setAside = namesIn(byForm.filter((row) => row['is_set_aside'] === 1));
  const catalogue = namesIn(byForm.filter((row) => row['is_catalogue'] === 1));
  return {
    setAside: new Set([...setAside, ...reads.keys()]),
    catalogue: queries.filter((query) => catalogue.has(query) || reads.has(query)),
  };
}

/**
 * Which queries of PostgreSQL are set aside, by their texts. To look at texts the server reads its file of them, so each query is
 * judged once, and `judged` has those of earlier runs, which stay while their entries do. If the file can't be read, nothing is
 * set aside. `isReadable` is false if the database can't convert a text in it, which fails every time.
 */
export async function judgeQueries(
  session: Session,
  schema: string,
  { judged, entries, grown }: Pick<QueryState, 'judged' | 'entries'> & { grown: readonly QueryGrowth[] },
): Promise<{ judged: Judged; isReadable: boolean }> {
  const present = new Set([...entries.keys()].map((entry) => entry.split('/')[0]));
  const kept = new Map([...judged].filter(([query]) => present.has(query)));
  const long = grown.filter(({ query, seconds }) => seconds >= LEAST_SECONDS && !kept.has(query));
  const wanted = [...new Set(long.map(({ query }) => query))].slice(0, JUDGED);
  if (wanted.length === 0) return { judged: kept, isReadable: true };
  let rows: Row[];
  try {
    rows = await session.read(postgresSetAside(schema, wanted));
  } catch (error) {
    return { judged: kept, isReadable: !isUnconvertible(error) };
  }
  const isText = ({ text }: Row) => typeof text === 'string';
  const setAside = namesIn(rows.filter((row) => !isText(row)));
  for (const query of await ownReads(session, rows.filter(isText))) setAside.add(query);
  const found = new Map([...kept, ...wanted.map((query) => [query, setAside.has(query)] as const)]);
  return { judged: found, isReadable: true };
}

/** The queries of PostgreSQL that read only its catalogue. */
async function ownReads(session: Session, rows: readonly Row[]): Promise<string[]> {
  const reads = readsIn('postgres', rows);
  if (reads.size === 0) return [];
  const names = (list: keyof CatalogueRead) => [
    ...new Set([...reads.values()].flatMap((read) => read[list])),
  ];
  const own = await session.read(postgresNames(names('relations'), names('functions'))).catch(() => []);
  const known = (column: string) => new Set(own.map((row) => row[column]));
  const relations = new Set([...known('relation'), ...STATISTICS]);
  const functions = new Set([...known('function'), ...STATISTICS]);
  return [...reads].flatMap(([query, read]) => {
    const isOwn =
      read.relations.every((name) => relations.has(name)) &&
      read.functions.every((name) => functions.has(name));
    return isOwn ? query : [];
  });
}

/** What those statements read that may read only the catalogue, by query. */
function readsIn(engine: Engine, rows: readonly Row[]): Map<string, CatalogueRead> {
  return new Map(
    rows.flatMap(({ query, text }) => {
      const read = readCatalogueRead(engine, String(text));
      return read === null ? [] : [[String(query), read] as const];
    }),
  );
}

/** Those of judged queries that are set aside. */
export function selectSetAside(judged: Judged): ReadonlySet<string> {
  return new Set([...judged].flatMap(([query, isSetAside]) => (isSetAside ? query : [])));
}

function namesIn(rows: readonly Row[]): Set<string> {
  return new Set(rows.map(({ query }) => String(query)));
}
