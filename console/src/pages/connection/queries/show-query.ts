/**
 * Scrolls to a query in the list and focuses it, given the object of a finding: the query's name or its id alone. Scrolls to
 * the list if the query is not in it.
 */
export function showQuery(object: string | null): void {
  const list = document.getElementById('queries');
  const names = [...(list?.querySelectorAll<HTMLElement>('[data-query]') ?? [])];
  const [id] = (object ?? '').split(' ');
  const query =
    names.find(({ dataset }) => dataset['query'] === object) ??
    names.find(({ dataset }) => dataset['query']?.split(' ')[0] === id);
  query?.focus({ preventScroll: true });
  if (query) query.scrollIntoView({ block: 'center' });
  else list?.scrollIntoView();
}
