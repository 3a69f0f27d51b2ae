import type pg from 'pg';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import type { ConnectionThresholds, ThresholdChanges } from '../../connections/connection-thresholds.ts';
import { listOwnChecks } from '../../connections/own-checks/list-own-checks.ts';
import { changeOverridesWithin, requireScope } from '../../connections/thresholds/change-overrides.ts';
import type { Override } from '../../connections/thresholds/effective-thresholds.ts';
import { listOverrides, type StoredOverride } from '../../connections/thresholds/list-overrides.ts';
import {
  concerns,
  requireConnectionOrder,
  requireOrderWithin,
} from '../../connections/thresholds/require-order.ts';
import { within } from '../../store/read.ts';
import type { Step, Steps } from './apply-step.ts';
import type { ReadFile } from './configuration-file.ts';
import type { WrittenAccount } from './configuration-schema.ts';
import type { DesiredConnection } from './parse-connections.ts';
import type { Path } from './schema-problems.ts';

/** The desired thresholds of an account, and of its tags; null = not in the file. */
export interface DesiredThresholds {
  account: ConnectionThresholds | null;
  tags: ReadonlyMap<string, ConnectionThresholds> | null;
}

/** Parses the thresholds of an account and of its tags, and notes their problems. */
export function thresholdsIn(
  file: ReadFile,
  path: Path,
  { thresholds, tag_thresholds }: WrittenAccount,
): DesiredThresholds {
  const tags = new Map<string, ConnectionThresholds>();
  const tagsPath = [...path, 'tag_thresholds'];
  for (const [written, values] of Object.entries(tag_thresholds ?? {})) {
    const tag = file.attempt(tagsPath, () => requireScope(written));
    if (tag === undefined) continue;
    if (tags.has(tag)) file.problem(tagsPath, 'Two names are the same tag: name it once.');
    tags.set(tag, values);
  }
  for (const [at, values] of [
    [[...path, 'thresholds'], thresholds ?? {}] as const,
    ...[...tags].map(([, values]) => [tagsPath, values] as const),
  ])
    file.attempt(at, () => requireOrderWithin(values));
  return { account: thresholds ?? null, tags: tag_thresholds ? tags : null };
}

/** The steps that bring the thresholds of an account and of its tags to the desired state. */
export async function planThresholds(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  { account: own, tags }: DesiredThresholds,
): Promise<Steps> {
  if (own === null && tags === null) return { wanted: [], unnamed: [] };
  const stored = account.id === null ? [] : await listOverrides(within(client), account.id);
  const byTag = Map.groupBy(stored, ({ tag }) => tag);
  const desired = new Map([...(own ? [['', own] as const] : []), ...(tags ?? [])]);
  const wanted = [...desired].flatMap(
    ([tag, values]) => stepFor(account.name, tag, byTag.get(tag) ?? [], values) ?? [],
  );
  const unnamed = [...byTag].flatMap(([tag, before]) =>
    tag === '' || tags === null || tags.has(tag) ? [] : (stepFor(account.name, tag, before, {}) ?? []),
  );
  return { wanted, unnamed };
}

function stepFor(
  account: string,
  tag: string,
  stored: readonly StoredOverride[],
  wanted: ConnectionThresholds,
): Step | null {
  const before = new Map<string, number>(
    stored.map(({ check_id, name, value }) => [`${check_id}.${name}`, value]),
  );
  const after = new Map<string, number>(
    Object.entries(wanted).flatMap(([id, named]) =>
      Object.entries(named).map(([name, value]) => [`${id}.${name}`, value] as const),
    ),
  );
  const changed = [...new Set<string>([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key) !== after.get(key),
  );
  if (changed.length === 0) return null;
  const values = (of: ReadonlyMap<string, number>) =>
    Object.fromEntries(changed.map((key) => [key, of.get(key) ?? null]));
  const action = before.size === 0 ? 'add' : after.size === 0 ? 'remove' : 'change';
  const name = tag === '' ? 'all connections' : tag;
  return {
    difference: {
      action,
      what: 'thresholds',
      account,
      name,
      changed,
      from: values(before),
      to: values(after),
    },
    make: (change) => changeOverridesWithin(change, tag, changesOf(changed, after)),
  };
}

function changesOf(changed: readonly string[], after: ReadonlyMap<string, number>): ThresholdChanges {
  const changes: Record<string, Record<string, number | null>> = {};
  for (const key of changed) {
    const [id = '', name = ''] = key.split('.');
    changes[id] = { ...changes[id], [name]: after.get(key) ?? null };
  }
  return changes;
}

/** An account of the file, by what decides on the thresholds of its connections. */
interface ThresholdAccount {
  id: number | null;
  path: Path;
  thresholds: DesiredThresholds;
  connections: readonly DesiredConnection[] | null;
  ownChecks: readonly OwnCheck[] | null;
}

/**
 * Notes levels in the wrong order once those of the account, its tags and a connection are combined. To carry out the plan would
 * be refused for them, so the plan is.
 */
export async function noteContradictions(
  client: pg.ClientBase,
  { id, path, thresholds: { account: own, tags }, connections, ownChecks: written }: ThresholdAccount,
  { file, prune }: { file: ReadFile; prune: boolean },
): Promise<void> {
  const stored = id === null ? [] : await listOverrides(within(client), id);
  const known = id === null ? [] : await listOwnChecks(within(client), id);
  const isGone = ({ id }: OwnCheck) => written !== null && (prune || written.some((one) => one.id === id));
  const ownChecks = [...known.filter((one) => !isGone(one)), ...(written ?? [])];
  const isKept = (tag: string) => (tag === '' ? own === null : tags === null || !(tags.has(tag) || prune));
  const overrides: Override[] = [
    ...stored.filter(({ tag }) => isKept(tag)),
    ...overridesIn('', own ?? {}),
    ...[...(tags ?? [])].flatMap(([tag, values]) => overridesIn(tag, values)),
  ];
  const ids = overrides.map(({ check_id }) => check_id);
  const judge = (at: Path, mine: ConnectionThresholds, of: readonly string[], checkIds: readonly string[]) =>
    file.attempt(at, () =>
      requireConnectionOrder(
        { thresholds: mine, tags: [...of] },
        overrides,
        [...new Set(checkIds)],
        '',
        ownChecks,
      ),
    );
  if (own) judge([...path, 'thresholds'], {}, [], ids);
  for (const tag of tags?.keys() ?? []) judge([...path, 'tag_thresholds'], {}, [tag], ids);
  for (const { path: at, thresholds, tags: its, address } of connections ?? []) {
    if (its === null && id !== null) continue; // the store has them
    const place = { engine: address.engine, tags: its ?? [] };
    const checkIds = [...ids, ...Object.keys(thresholds)].filter((each) => concerns(each, place, ownChecks));
    judge([...at, 'thresholds'], thresholds, its ?? [], checkIds);
  }
}

function overridesIn(tag: string, values: ConnectionThresholds): Override[] {
  return Object.entries(values).flatMap(([check_id, named]) =>
    Object.entries(named).map(([name, value]) => ({ tag, check_id, name, value })),
  );
}
