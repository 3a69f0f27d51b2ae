import type { Change } from '../../activity/record-entry.ts';
import { everyCheck } from '../../checks/catalogue.ts';
import { findingId, isOwnCheckId, type OwnCheck } from '../../checks/own/own-check.ts';
import { thresholdFacts } from '../../checks/threshold-facts.ts';
import { invalidParameter, type Rejection } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { type Engine, familyOf, isForeignCheck } from '../../vocabulary/engines.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { ConnectionThresholds } from '../connection-thresholds.ts';
import { listOwnChecks } from '../own-checks/list-own-checks.ts';
import {
  defaultsOf,
  type EffectiveThreshold,
  effectiveThresholds,
  type Override,
  type OwnLevels,
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

function pairsOf(checkId: string, own: OwnLevels | undefined): readonly LevelPair[] {
  if (!own) return pairs.get(checkId) ?? [];
  return [{ milder: 'warning', severer: 'critical', stricter: own.operator === '<=' ? 'higher' : 'lower' }];
}

type Value = Pick<EffectiveThreshold, 'value'> & Partial<EffectiveThreshold>;

/** The first pair of a check whose severer level would be reached before the milder one; both must have a value. */
function contradictionIn(
  checkId: string,
  read: (name: string) => Value | undefined,
  own?: OwnLevels,
): { milder: [string, Value]; severer: [string, Value] } | null {
  for (const pair of pairsOf(checkId, own)) {
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
  ownChecks: readonly OwnLevels[] = [],
): void {
  const effective = effectiveThresholds(thresholds, tags, overrides, ownChecks);
  for (const checkId of checkIds) {
    const own = ownChecks.find(({ id }) => findingId(id) === checkId);
    const defaults = own ? { warning: own.warning, critical: own.critical } : defaultsOf(checkId);
    const read = (name: string): Value | undefined => {
      const value = new Map(Object.entries(defaults)).get(name) ?? null;
      return effective.get(checkId)?.get(name) ?? (value === null ? undefined : { value, source: 'default' });
    };
    const found = contradictionIn(checkId, read, own);
    if (found) throw contradiction(checkId, found, where);
  }
}

/** Whether the thresholds of a check mean something on a connection: an own check runs only where its engine and tags are. */
export function concerns(
  checkId: string,
  { engine, tags }: { engine: Engine; tags: readonly string[] },
  ownChecks: readonly OwnCheck[],
): boolean {
  if (!isOwnCheckId(checkId)) return !isForeignCheck(engine, checkId);
  const own = ownChecks.find(({ id }) => findingId(id) === checkId);
  return own !== undefined && own.engine === engine && own.tags.every((tag) => tags.includes(tag));
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
  /** Those with changed thresholds, or those that a changed tag sets, or that run where it is. */
  checks: { ids: readonly string[] } | { ofTags: readonly string[] };
}

/**
 * Judges the thresholds that hold for connections once the change is written, because their levels combine those of the
 * connection, its tags, the account and the check. Throws a {@link Rejection} then.
 */
export function requireOrderAtEnd(change: Change, scope: Scope): void {
  change.atEnd(() => requireOrder(change, scope));
}

function checkIdsIn(
  { checks }: Scope,
  overrides: readonly Override[],
  ownChecks: readonly OwnCheck[],
): readonly string[] {
  if ('ids' in checks) return checks.ids;
  const { ofTags } = checks;
  const set = overrides.filter(({ tag }) => ofTags.includes(tag)).map(({ check_id }) => check_id);
  const run = ownChecks.filter(({ tags }) => tags.some((tag) => ofTags.includes(tag)));
  return [...new Set([...set, ...run.map(({ id }) => findingId(id))])];
}

async function requireOrder({ client, accountId }: Change, scope: Scope): Promise<void> {
  const { connectionIds, tag } = scope;
  const read = within(client);
  const all = await listOverrides(read, accountId);
  const { checks } = scope;
  const needsOwn = 'ofTags' in checks || checks.ids.some(isOwnCheckId);
  const ownChecks = needsOwn ? await listOwnChecks(read, accountId) : [];
  const checkIds = checkIdsIn(scope, all, ownChecks);
  if (checkIds.length === 0) return;
  const overrides = all.filter(({ check_id }) => checkIds.includes(check_id));
  // Those without connections yet: the account's alone, and together with the tag's.
  if (connectionIds === null) {
    const bare = { thresholds: {}, tags: tag === '' ? [] : [tag] };
    requireConnectionOrder(bare, overrides, checkIds, '', ownChecks);
  }
  const tagsThatSet = new Set(overrides.map((override) => override.tag));
  const judged = new Set<string>();
  for (const connection of await listThresholdConnections(read, accountId, connectionIds)) {
    const { name, engine } = connection;
    if (connectionIds === null && tag !== '' && !connection.tags.includes(tag)) continue;
    const ids = checkIds.filter((id) => concerns(id, connection, ownChecks));
    const tags = connection.tags.filter((each) => tagsThatSet.has(each));
    const thresholds = Object.fromEntries(
      Object.entries(connection.thresholds).filter(([id]) => ids.includes(id)),
    );
    const key = JSON.stringify([familyOf(engine), tags, thresholds, ids.filter(isOwnCheckId)]);
    if (judged.has(key)) continue;
    judged.add(key);
    requireConnectionOrder({ thresholds, tags }, overrides, ids, ` on ${name}`, ownChecks);
  }
}
