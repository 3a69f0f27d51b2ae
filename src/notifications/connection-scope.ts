/** The connections that a destination, a rule or a maintenance window is for. */
export interface ConnectionScope {
  /** null = any, unless there are names. */
  connection_ids: readonly number[] | null;
  /** Names, in which `*` is any text. null = any, unless there are ids. */
  connection_names: readonly string[] | null;
}

/** Whether a scope includes a connection: by its id, or by its name. */
export function includesConnection(
  { connection_ids: ids, connection_names: names }: ConnectionScope,
  { id, name }: { id: number; name: string },
): boolean {
  if (ids === null && names === null) return true;
  return ids?.includes(id) === true || names?.some((pattern) => matchesName(pattern, name)) === true;
}

/** Whether a name is the pattern's, in any capitals. Takes linear time for each `*`, whatever the pattern is. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  const lower = name.toLowerCase();
  if (last === undefined) return lower === first;
  if (!lower.startsWith(first)) return false;
  let place = first.length;
  for (const part of rest) {
    const found = lower.indexOf(part, place);
    if (found === -1) return false;
    place = found + part.length;
  }
  return lower.length - last.length >= place && lower.endsWith(last);
}
