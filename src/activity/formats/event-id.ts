/** The id of an entry's event: `3-41` is entry 41 of account 3. */
export function eventId(accountId: number | null, entryId: number): string {
  return accountId === null ? String(entryId) : `${accountId}-${entryId}`;
}

/** The query of a request as it stands in a URL; empty = none. */
export function queryString(query: unknown): string {
  if (typeof query !== 'object' || query === null) return '';
  return Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join('&');
}

/** Without fields that have no value: both schemas leave them out. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, field]) =>
    field === null || field === undefined ? [] : [[name, withoutNulls(field)] as const],
  );
  return Object.fromEntries(fields);
}
