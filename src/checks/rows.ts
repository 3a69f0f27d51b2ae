import type { Check, Row } from './check.ts';

const schemaOf = (extension: string) => `
  select quote_ident(n.nspname) as schema
    from pg_extension e
    join pg_namespace n on n.oid = e.extnamespace
   where e.extname = '${extension}'`;

/**
 * The rows of a check's statement. `read` runs a statement as the monitor does; it is called twice for a check that
 * reads an extension. Throws what `read` throws.
 */
export async function rowsOf(
  check: Check,
  version: number,
  read: (statement: string) => Promise<Row[]>,
): Promise<Row[]> {
  if (check.extension === undefined) return read(check.sql(version));
  const [found] = await read(schemaOf(check.extension));
  const schema = found?.['schema'];
  return read(check.sql(version, typeof schema === 'string' ? schema : undefined));
}
