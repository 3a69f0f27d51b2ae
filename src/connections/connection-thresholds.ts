import type { Thresholds } from '../checks/check.ts';
import { isOwnCheckId } from '../checks/own/own-check.ts';
import { invalidParameter } from '../platform/rejection.ts';

/** Check id → name → the new number; null = back to the default. */
export type ThresholdChanges = Readonly<Record<string, Readonly<Record<string, number | null>>>>;

/** Check id → name → number, as stored with a connection: only those that differ from the default. */
export type ConnectionThresholds = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The id and the default thresholds of a check. */
interface ShippedCheck {
  id: string;
  thresholds?: Thresholds;
}

/** Throws a {@link Rejection} for an unknown check or threshold; the message lists the valid names. */
export function requireThresholds(changes: ThresholdChanges, checks: readonly ShippedCheck[]): void {
  for (const [id, named] of Object.entries(changes)) {
    // Which own checks there are is the account's: a threshold of none that it has does nothing.
    const valid = isOwnCheckId(id)
      ? ['warning', 'critical']
      : Object.keys(requireCheck(id, checks).thresholds ?? {});
    const wrong = Object.keys(named).find((name) => !valid.includes(name));
    if (wrong === undefined) continue;
    throw invalidParameter(
      'thresholds',
      valid.length === 0
        ? `${id} has no thresholds: leave out ${id}.${wrong}.`
        : `${id} has no threshold ${wrong}: its thresholds are ${valid.join(', ')}.`,
    );
  }
}

/** The check with this id. Throws a {@link Rejection} when there is none. */
export function requireCheck<Shipped extends { id: string }>(
  id: string,
  checks: readonly Shipped[],
): Shipped {
  const check = checks.find((one) => one.id === id);
  if (check) return check;
  const named = /^[A-Z0-9_]{1,60}$/.test(id) ? id : 'with this id';
  throw invalidParameter('check_id', `There is no check ${named}: docs/checks has a page for each check.`);
}

/** A connection's thresholds after the changes. */
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
