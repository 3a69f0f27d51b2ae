/** What a change did to the fields of an object, for its entry in the log. */
export interface FieldChanges {
  changed: string[];
  from: Record<string, unknown>;
  to: Record<string, unknown>;
}

/** The fields of `after` whose values differ from `before`, with both values. Never give it a secret. */
export function fieldChanges<Fields extends object>(before: Fields, after: Fields): FieldChanges {
  const was: Record<string, unknown> = Object.fromEntries(Object.entries(before));
  const is: Record<string, unknown> = Object.fromEntries(Object.entries(after));
  const changed = Object.keys(is).filter((field) => JSON.stringify(was[field]) !== JSON.stringify(is[field]));
  const valuesOf = (of: Record<string, unknown>) =>
    Object.fromEntries(changed.map((field) => [field, of[field] ?? null]));
  return { changed, from: valuesOf(was), to: valuesOf(is) };
}
