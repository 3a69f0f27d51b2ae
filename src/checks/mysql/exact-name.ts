/**
 * A column with names, to group and join by. MariaDB's `information_schema` takes `a` and `A` for the same name, and the
 * collations of `performance_schema` do not mix with it.
 */
export function exactName(column: string): string {
  return `convert(${column} using utf8mb4) collate utf8mb4_bin`;
}
