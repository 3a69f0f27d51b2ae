/**
 * Condition: an object of a catalog, and its schema, belong to the user and not to an extension, which alters and drops its
 * objects itself. Some extensions, such as TimescaleDB, keep the rows of a user's table in a schema of theirs.
 */
export function notOfExtension(object: string, schema: string, catalog = 'pg_class'): string {
  return `${isNoMember(catalog, object)}
     and ${isNoMember('pg_namespace', schema)}${catalog === 'pg_class' ? `\n     and ${isNoChunk(object)}` : ''}`;
}

// A user may choose schema and names of TimescaleDB's chunks, which are members of no extension. They inherit from their table.
// The list is the same for each row, so PostgreSQL makes it once, and knows that it did when it plans.
const isNoChunk = (table: string) => `${table} not in (select up.inhrelid
                              from pg_inherits up
                              join pg_class chunk on chunk.oid = up.inhrelid and not chunk.relispartition
                             where exists (select from pg_extension where extname = 'timescaledb'))`;

/** Condition: an object of a catalog is not one that an extension made. */
export function isNoMember(catalog: string, object: string): string {
  return `not exists (select from pg_depend d
                      where d.classid = '${catalog}'::regclass and d.objid = ${object}
                        and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e')`;
}
