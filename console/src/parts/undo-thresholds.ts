import { get, send } from '../api.ts';

/** Values of a check's thresholds by name; null = not set. */
export type ThresholdValues = Readonly<Record<string, number | null>>;

/** A change of a check's thresholds that was made, with what was set before: for a tag ('' = all connections), or by connection. */
export interface ChangedThresholds {
  check: string;
  set: ThresholdValues;
  before: ReadonlyMap<string, ThresholdValues> | ReadonlyMap<number, ThresholdValues>;
}

interface Named {
  name: string;
  value: number;
}

/** Throws if somebody has set one of these thresholds since it was as in `before`. */
export async function requireUnchanged({ check, set, before }: ChangedThresholds): Promise<void> {
  const now = await readSet(check, before);
  const names = Object.keys(set);
  for (const [key, old] of before) {
    if (names.some((name) => (now.get(key)?.[name] ?? null) !== (old[name] ?? null)))
      throw new Error(
        'Somebody has changed these thresholds meanwhile. Save again to replace the new values.',
      );
  }
}

/** Puts the values back that are still as the change set them, and says so. What others changed since stays. Throws if that is all. */
export async function undoThresholds({ check, set, before }: ChangedThresholds): Promise<string> {
  const isOfTag = hasTags(before);
  const groups = restoredValues<string | number>(before, set, await readSet(check, before));
  for (const { keys, values } of groups) {
    await send('POST', '/thresholds', {
      ...(!isOfTag && { connections: keys }),
      ...(isOfTag && keys[0] !== '' && { tag: keys[0] }),
      thresholds: { [check]: values },
    });
  }
  if (groups.length === 0) throw new Error('Somebody has changed these thresholds since.');
  return 'Thresholds restored';
}

/** What to set for whom: for each key that still has a value of `set`, the value before. Keys with equal values are one group. */
export function restoredValues<Key>(
  before: ReadonlyMap<Key, ThresholdValues>,
  set: ThresholdValues,
  now: ReadonlyMap<Key, ThresholdValues>,
): { keys: Key[]; values: ThresholdValues }[] {
  const restored = [...before].flatMap(([key, old]) => {
    const values = Object.entries(set).flatMap(([name, value]) => {
      const was = old[name] ?? null;
      return (now.get(key)?.[name] ?? null) === value && was !== value ? [[name, was] as const] : [];
    });
    return values.length > 0 ? [{ key, values: Object.fromEntries(values) }] : [];
  });
  const groups = Map.groupBy(restored, ({ values }) => JSON.stringify(values));
  return [...groups.values()].map((group) => ({
    keys: group.map(({ key }) => key),
    values: group[0]?.values ?? {},
  }));
}

/** The values of a list by name. */
export function valuesOf(thresholds: readonly Named[]): ThresholdValues {
  return Object.fromEntries(thresholds.map(({ name, value }) => [name, value]));
}

function hasTags(before: ChangedThresholds['before']): boolean {
  return [...before.keys()].some((key) => typeof key === 'string');
}

/** The values that are set now, by what `before` has as its keys. */
function readSet(
  check: string,
  before: ChangedThresholds['before'],
): Promise<ReadonlyMap<string | number, ThresholdValues>> {
  return hasTags(before) ? setForTags(check) : setByConnections(check);
}

async function setForTags(check: string): Promise<Map<string, ThresholdValues>> {
  const { overrides } = await get<{ overrides: (Named & { tag: string; check_id: string })[] }>(
    '/thresholds',
  );
  const ours = overrides.filter(({ check_id }) => check_id === check);
  return new Map([...Map.groupBy(ours, ({ tag }) => tag)].map(([tag, set]) => [tag, valuesOf(set)]));
}

async function setByConnections(check: string): Promise<Map<number, ThresholdValues>> {
  const { data } = await get<{ data: { id: number; thresholds: Named[] }[] }>('/thresholds/connections', {
    check,
  });
  return new Map(data.map(({ id, thresholds }) => [id, valuesOf(thresholds)]));
}
