/** The columns of `query_hour` that have an element per query, in the order in which they are written. */
export const HOUR_COLUMNS = [
  ...(['query', 'database', 'role'] as const),
  ...(['calls', 'seconds', 'rows', 'read', 'hit', 'temporary'] as const),
] as const;

/** The item of FROM that turns a row of `query_hour` into one row per query, named `u`. */
export function unnestHour(table: string): string {
  const columns = HOUR_COLUMNS.map((column) => `${table}.${column}`).join(', ');
  return `unnest(${columns}) as u (${HOUR_COLUMNS.join(', ')})`;
}
