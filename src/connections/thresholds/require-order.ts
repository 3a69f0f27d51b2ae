import type { Change } from '../../activity/record-entry.ts';
import { everyCheck } from '../../checks/catalogue.ts';
import { thresholdFacts } from '../../checks/threshold-facts.ts';
import { invalidParameter, type Rejection } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { familyOf, isForeignCheck } from '../../vocabulary/engines.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { ConnectionThresholds } from '../connection-thresholds.ts';
import {
  defaultsOf,
  type EffectiveThreshold,
  effectiveThresholds,
  type Override,
} from './effective-thresholds.ts';
import { listOverrides, listThresholdConnections, type ThresholdConnection } from './list-overrides.ts';

/** Two levels of one check in the same unit: the milder one is reached first. */
interface LevelPair {
  milder: string;
  severer: string;
  stricter: 'higher' | 'lower';
}

/** The levels in the names of thresholds, the mildest first. */
const LEVELS: readonly string[] = SEVERITIES.toReversed();

const pairs = new Map<string, readonly LevelPair[]>(
  everyCheck.map((check) => {
    const facts = thresholdFacts(check).filter(({ name }) => LEVELS.includes(name.split('_')[0] ?? ''));
    const rank = (name: string) => LEVELS.indexOf(name.split('_')[0] ?? '');
    const unitIn = (name: string) => name.split('_').slice(1).join('_');
    const found = facts.flatMap(({ name: milder, stricter }) =>
      facts
        .filter(({ name }) => rank(name) > rank(milder) && unitIn(name) === unitIn(milder))
        .map(({ name: severer }) => ({ milder, severer, stricter })),
    );
    return [check.id, found];
  }),
);

type Value = Pick<EffectiveThreshold, 'value'> & Partial<EffectiveThreshold>;

/** The first pair of a check whose severer level would be reached before the milder one; both must have a value. */
function contradictionIn(
  checkId: string,
  read: (name: string) => Value | undefined,
): { milder: [string, Value]; severer: [string, Value] } | null {
  for (const pair of pairs.get(checkId) ?? []) {
    const [milder, severer] = [read(pair.milder), read(pair.severer)];
    if (milder === undefined || severer === undefined) continue;
    const isWrong = pair.stricter === 'higher' ? severer.value > milder.value : severer.value < milder.value;
    if (isWrong) return { milder: [pair.milder, milder], severer: [pair.severer, severer] };
  }
  return null;
}

/** Throws a {@link Rejection} when a set of thresholds contradicts itself, whatever else is set. */
export function requireOrderWithin(
  changes: Readonly<Record<string, Readonly<Record<string, number | null>>>>,
): void {
  for (const [checkId, named] of Object.entries(changes)) {
    const found = contradictionIn(checkId, (name) => {
      const value = named[name];
      return typeof value === 'number' ? { value } : undefined;
    });
    if (found) throw contradiction(checkId, found, '');
  }
}

/** Throws a {@link Rejection} when thresholds contradict each other or a default. */
export function requireOrderWithDefaults(thresholds: ConnectionThresholds): void {
  requireConnectionOrder({ thresholds, tags: [] }, [], Object.keys(thresholds), '');
}

/** Throws a {@link Rejection} when the thresholds that hold for a connection contradict each other or a default. */
export function requireConnectionOrder(
  { thresholds, tags }: Pick<ThresholdConnection, 'thresholds' | 'tags'>,
  overrides: readonly Override[],
  checkIds: readonly string[],
  where: string,
): void {
  const effective = effectiveThresholds(thresholds, tags, overrides);
  for (const checkId of checkIds) {
    const defaults = defaultsOf(checkId);
    const found = contradictionIn(checkId, (name) => {
      const value = defaults[name];
      return (
        effective.get(checkId)?.get(name) ?? (value === undefined ? undefined : { value, source: 'default' })
      );
    });
    if (found) throw contradiction(checkId, found, where);
  }
}

function contradiction(
  checkId: string,
  { milder, severer }: NonNullable<ReturnType<typeof contradictionIn>>,
  where: string,
): Rejection {
  return invalidParameter(
    'thresholds',
    `${checkId}${where}: ${describe(severer)} would be reached before ${describe(milder)}. Set both so that the milder level comes first.`,
  );
}

const ORIGINS = {
  connection: () => ' (of the connection)',
  tag: (tag: string) => ` (of the tag ${tag})`,
  account: () => ' (of the account)',
  default: () => ' (the default)',
} as const satisfies Record<EffectiveThreshold['source'], (tag: string) => string>;

function describe([name, { value, source, tag = '' }]: [string, Value]): string {
  return `${name} ${value}${source === undefined ? '' : ORIGINS[source](tag)}`;
}

/** The connections and checks whose thresholds a change may have put in the wrong order. */
interface Scope {
  /** Null = those of the tag, or all if there is none. */
  connectionIds: readonly number[] | null;
  /** '' = none. */
  tag: string;
  /** Those with changed thresholds, or those that a changed tag sets. */
  checks: { ids: readonly string[] } | { ofTags: readonly string[] };
}

/**
 * Judges the thresholds that hold for connections once the change is written, because their levels combine those of the
 * connection, its tags, the account and the check. Throws a {@link Rejection} then.
 */
export function requireOrderAtEnd(change: Change, scope: Scope): void {
  change.atEnd(() => requireOrder(change, scope));
}

function checkIdsIn({ checks }: Scope, overrides: readonly Override[]): readonly string[] {
  if ('ids' in checks) return checks.ids;
  const set = overrides.filter(({ tag }) => checks.ofTags.includes(tag));
  return [...new Set(set.map(({ check_id }) => check_id))];
}

async function requireOrder({ client, accountId }: Change, scope: Scope): Promise<void> {
  const { connectionIds, tag } = scope;
  const read = within(client);
  const all = await listOverrides(read, accountId);
  const checkIds = checkIdsIn(scope, all);
  if (checkIds.length === 0) return;
  const overrides = all.filter(({ check_id }) => checkIds.includes(check_id));
  // Those without connections yet: the account's alone, and together with the tag's.
  if (connectionIds === null) {
    requireConnectionOrder({ thresholds: {}, tags: tag === '' ? [] : [tag] }, overrides, checkIds, '');
  }
  const tagsThatSet = new Set(overrides.map((override) => override.tag));
  const judged = new Set<string>();
  for (const connection of await listThresholdConnections(read, accountId, connectionIds)) {
    const { name, engine } = connection;
    if (connectionIds === null && tag !== '' && !connection.tags.includes(tag)) continue;
    const ids = checkIds.filter((id) => !isForeignCheck(engine, id));
    const tags = connection.tags.filter((each) => tagsThatSet.has(each));
    const thresholds = Object.fromEntries(
      Object.entries(connection.thresholds).filter(([id]) => ids.includes(id)),
    );
    const key = JSON.stringify([familyOf(engine), tags, thresholds]);
    if (judged.has(key)) continue;
    judged.add(key);
    requireConnectionOrder({ thresholds, tags }, overrides, ids, ` on ${name}`);
  }
}
