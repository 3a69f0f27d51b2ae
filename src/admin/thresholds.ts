import { type Catalogue, UsageError } from './command.ts';

/** Check id → name → the number that it is to be; null = the check's own again. */
export type ThresholdChanges = Readonly<Record<string, Readonly<Record<string, number | null>>>>;

/** Check id → name → number, as a connection keeps them: those that differ from the check's own. */
export type ConnectionThresholds = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Parser of `CHECK_ID.name=number`, given any number of times; `CHECK_ID.name=` is the default again. */
export function thresholdsOf(text: string, before: ThresholdChanges = {}): ThresholdChanges {
  const [, id = '', name = '', number = ''] =
    /^([A-Za-z0-9_]+)\.([a-z0-9_]+)=([0-9]{1,15}(?:\.[0-9]{1,9})?)?$/.exec(text) ?? [];
  if (id === '') {
    throw new UsageError(
      '--threshold must be CHECK_ID.name=number, such as PG_DEAD_TUPLES.warning=0.2, or CHECK_ID.name= for the default.',
    );
  }
  const check = id.toUpperCase();
  return { ...before, [check]: { ...before[check], [name]: number === '' ? null : Number(number) } };
}

/** Throws a {@link UsageError} that lists the valid names when the changes name a check or threshold that is none. */
export function requireThresholds(changes: ThresholdChanges, checks: Catalogue['checks']): void {
  for (const [id, named] of Object.entries(changes)) {
    const valid = Object.keys(requireCheck(id, checks).thresholds ?? {});
    const wrong = Object.keys(named).find((name) => !valid.includes(name));
    if (wrong === undefined) continue;
    throw new UsageError(
      valid.length === 0
        ? `${id} has no thresholds: leave --threshold ${id}.${wrong} out.`
        : `${id} has no threshold ${wrong}: its thresholds are ${valid.join(', ')}.`,
    );
  }
}

/** The check of that id. Throws a {@link UsageError} that names it when there is none. */
export function requireCheck(id: string, checks: Catalogue['checks']): Catalogue['checks'][number] {
  const check = checks.find((one) => one.id === id);
  if (check) return check;
  const named = /^[A-Z0-9_]{1,60}$/.test(id) ? id : 'of such an id';
  throw new UsageError(`There is no check ${named}: docs/checks has a page for each that there is.`);
}

/** The thresholds of a connection after the changes. */
export function changedThresholds(
  before: ConnectionThresholds,
  changes: ThresholdChanges,
): ConnectionThresholds {
  const after: Record<string, Record<string, number>> = {};
  for (const id of new Set([...Object.keys(before), ...Object.keys(changes)])) {
    const own: Record<string, number> = {};
    for (const [name, number] of Object.entries({ ...before[id], ...changes[id] })) {
      if (number !== null) own[name] = number;
    }
    if (Object.keys(own).length > 0) after[id] = own;
  }
  return after;
}
