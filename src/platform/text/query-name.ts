/** How a query is named: `1234 in shop by app`, and in MySQL `9f86d0… in shop`. */
export function queryName({ query, database, role }: Record<'query' | 'database' | 'role', string>): string {
  return [query, ...(database && ['in', database]), ...(role && ['by', role])].join(' ');
}
