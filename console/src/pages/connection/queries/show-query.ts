const PREFIX = 'query-';

/** The fragment of an address that leads to a query in the list, given the object of a finding: the query's name or its id. */
export function queryFragment(object: string | null): string {
  return PREFIX + encodeURIComponent(object ?? '');
}

/** Scrolls to the query that a fragment names and focuses it, or scrolls to the list if the query is not in it. */
export function showQuery(fragment: string): void {
  if (!fragment.startsWith(PREFIX)) return;
  const object = decode(fragment.slice(PREFIX.length));
  const list = document.getElementById('queries');
  const names = [...(list?.querySelectorAll<HTMLElement>('[data-query]') ?? [])];
  const [id] = object.split(' ');
  const query =
    names.find(({ dataset }) => dataset['query'] === object) ??
    names.find(({ dataset }) => dataset['query']?.split(' ')[0] === id);
  query?.focus({ preventScroll: true });
  if (query) query.scrollIntoView({ block: 'center' });
  else list?.scrollIntoView();
}

/** The text of a part of an address; as it is if that is not encoded. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
