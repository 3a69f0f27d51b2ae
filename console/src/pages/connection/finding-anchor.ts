/** Names a finding in the address: its check, the database and the object; names are long on purpose sometimes. */
export function findingAnchor({
  check_id,
  database,
  object,
}: {
  check_id: string;
  database: string;
  object: string | null;
}): string {
  return [check_id, database, object ?? '']
    .map((part) => part.slice(0, 120))
    .filter((part) => part !== '')
    .join(':');
}

/** The id of the button that opens a finding. */
export function findingId(key: string): string {
  return `finding-${key}`;
}
