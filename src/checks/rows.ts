import type { Check, Row } from './check.ts';

const schemaOf = (extension: string) => `
  select quote_ident(n.nspname) as schema
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
   where e.extname = '${extension}'`;

/**
 * The rows of a check's statement. `read` runs a statement as the monitor does; it is called once more for a
 * check that reads an extension. Throws what `read` throws.
 */
export async function rowsOf(
  check: Check,
  version: number,
  read: (statement: string) => Promise<Row[]>,
): Promise<Row[]> {
  const found = check.extension === undefined ? [] : await read(schemaOf(check.extension));
  const schema = found[0]?.['schema'];
  const rows: Row[] = [];
  for (const statement of [check.sql(version, typeof schema === 'string' ? schema : undefined)].flat()) {
    rows.push(...(await read(statement)));
  }
  return rows;
}
