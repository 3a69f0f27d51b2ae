/** Identifies a finding in the URL by check, database and object. Hostile names can be long, so each part is cut. */
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
