import type { Engine } from '../vocabulary/engines.ts';
import type { Check, Row, Thresholds } from './check.ts';
import { printableRow } from './postgres/printable-names.ts';

/** The statement for the quoted schema of an extension; no row if it is not installed. */
export function extensionSchema(extension: string): string {
  return `
  select quote_ident(n.nspname) as schema
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
   where e.extname = '${extension}'`;
}

/**
 * The rows of a check's statement; PostgreSQL's with names and literals that can be pasted. `read` runs a statement as
 * the monitor does; it is called once more for a check that reads an extension. `thresholds` replace the check's own.
 * Throws what `read` throws.
 */
export async function rowsOf(
  check: Check,
  { engine, version }: { engine: Engine; version: number },
  read: (statement: string) => Promise<Row[]>,
  thresholds: Thresholds = {},
): Promise<Row[]> {
  const found = check.extension === undefined ? [] : await read(extensionSchema(check.extension));
  const schema = found[0]?.['schema'];
  const rows: Row[] = [];
  for (const statement of [check.sql(version, typeof schema === 'string' ? schema : undefined)].flat()) {
    rows.push(...(await read(statement)));
  }
  const facts = { version, thresholds: { ...check.thresholds, ...thresholds } };
  for (const step of check.steps?.(facts) ?? []) {
    const statement = step(rows);
    if (statement !== undefined) rows.push(...(await read(statement)));
  }
  for (const statement of check.details?.(rows, facts) ?? []) rows.push(...(await read(statement)));
  return engine === 'postgres' ? rows.map(printableRow) : rows;
}
