import { type Engine, type EngineFamily, familyOf } from '../vocabulary/engines.ts';
import type { Check, Thresholds } from './check.ts';
import type { Row } from './fault.ts';
import { shownRow } from './mysql/server-texts.ts';
import { trustedRow, trustedText } from './postgres/server-texts.ts';

/** The quoted schema of an extension; undefined if it is not installed. `read` runs a statement. */
export async function schemaOfExtension(
  extension: string,
  read: (statement: string) => Promise<Row[]>,
): Promise<string | undefined> {
  const [row] = await read(`
  select quote_ident(n.nspname) as schema
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
   where e.extname = '${extension}'`);
  return typeof row?.['schema'] === 'string' ? trustedText('schema', row['schema']) : undefined;
}

/** A row with texts that can be shown and pasted, whatever the server is. */
const SHOWN: Readonly<Record<EngineFamily, (row: Row) => Row>> = {
  postgres: trustedRow,
  mysql: shownRow,
  pgbouncer: (row) => row, // its checks quote what they show
};

/**
 * The rows of a check's statement; PostgreSQL's with texts that can be pasted, whatever the server is. `read` runs a statement as
 * the monitor does; it is called once more for a check that reads an extension. `thresholds` replace the check's own.
 * Throws what `read` throws.
 */
export async function rowsOf(
  check: Check,
  { engine, version }: { engine: Engine; version: number },
  read: (statement: string) => Promise<Row[]>,
  thresholds: Thresholds = {},
): Promise<Row[]> {
  const schema = check.extension === undefined ? undefined : await schemaOfExtension(check.extension, read);
  const rows: Row[] = [];
  for (const statement of [check.sql(version, schema)].flat()) {
    rows.push(...(await read(statement)));
  }
  const facts = { version, thresholds: { ...check.thresholds, ...thresholds } };
  for (const step of check.steps?.(facts) ?? []) {
    const statement = step(rows);
    if (statement !== undefined) rows.push(...(await read(statement)));
  }
  for (const statement of check.details?.(rows, facts) ?? []) rows.push(...(await read(statement)));
  return rows.map(SHOWN[familyOf(engine)]);
}
