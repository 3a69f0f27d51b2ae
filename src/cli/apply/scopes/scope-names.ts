import type pg from 'pg';
import { everySettingsOf } from '../../../connections/connection-changes.ts';
import { readTags } from '../../../connections/tags/connection-tags.ts';
import {
  type ConnectionScope,
  isPattern,
  patternMatcher,
  type ScopedConnection,
  wrongPattern,
} from '../../../notifications/connection-scope.ts';
import { within } from '../../../store/read.ts';
import { UsageError } from '../../usage-error.ts';

/** `connections` in a file: patterns, and single connections by their exact names. */
export type WrittenScope = (string | { name: string })[];

/** The connections of a destination, rule or window in a file. Both null = all, both empty = none. */
export interface DesiredScope {
  /** Exact names, stored as ids. */
  exact: readonly string[] | null;
  patterns: readonly string[] | null;
}

/** Parses `connections`. */
export function parseScope(written: WrittenScope | undefined): DesiredScope {
  if (written === undefined) return { exact: null, patterns: null };
  const exact = new Set(written.flatMap((entry) => (typeof entry === 'string' ? [] : entry.name)));
  const patterns = written.filter((entry) => typeof entry === 'string');
  if (exact.size === 0) return { exact: null, patterns };
  return { exact: [...exact], patterns: patterns.length === 0 ? null : patterns };
}

/** Throws a {@link UsageError} for a pattern that looks like tags and is none. */
export function requirePatterns({ patterns }: DesiredScope): void {
  const wrong = wrongPattern(patterns);
  if (wrong !== null) throw new UsageError(wrong);
}

interface StoredNames {
  ids: readonly number[] | null;
  names: readonly string[] | null;
}

type Connection = Omit<ScopedConnection, 'id'>;

/** How a file names the connections of an account: those of the store, and those that it will have. */
export class ScopeNames {
  readonly #byId: ReadonlyMap<number, string>;
  readonly #after: readonly Connection[];
  /** Names in lower case that several connections have, in different capitals. */
  readonly #shared: ReadonlySet<string>;

  constructor(byId: ReadonlyMap<number, string>, after: readonly Connection[]) {
    this.#byId = byId;
    this.#after = after;
    const names = new Set([...byId.values(), ...after.map(({ name }) => name)]);
    const lower = [...names].map((name) => name.toLowerCase());
    this.#shared = new Set(lower.filter((name, at) => lower.indexOf(name) < at));
  }

  /** A stored scope. Connections that were selected by id have the names of today; removed ones are left out. */
  writeStored({ ids, names: patterns }: StoredNames): WrittenScope | null {
    return this.write({ exact: ids?.flatMap((id) => this.#byId.get(id) ?? []) ?? null, patterns });
  }

  /** A scope in its only form; null = all. A name stands alone where that means this connection only. */
  write({ exact, patterns }: DesiredScope): WrittenScope | null {
    if (exact === null && patterns === null) return null;
    const isAlone = (name: string) => !isPattern(name) && !this.#shared.has(name.toLowerCase());
    const { alone = [], other = [] } = Object.groupBy(exact ?? [], (name) =>
      isAlone(name) ? 'alone' : 'other',
    );
    return [...other.map((name) => ({ name })), ...alone, ...(patterns ?? [])];
  }

  /** Whether the account will have each connection that the scope names exactly. */
  hasExact({ exact }: DesiredScope): boolean {
    return exact?.every((name) => this.#after.some((connection) => connection.name === name)) ?? true;
  }

  /** The patterns that match none of the connections that the account will have. */
  unmatched({ patterns }: DesiredScope): string[] {
    return (patterns ?? []).filter((pattern) => !this.#after.some(patternMatcher(pattern)));
  }
}

/** Reads the names for an account, which is null if it is new. `wanted` are the file's connections; null = not in the file. */
export async function readScopeNames(
  client: pg.ClientBase,
  accountId: number | null,
  wanted: readonly { name: string; tags: readonly string[] | null }[] | null,
  prune: boolean,
): Promise<ScopeNames> {
  const stored = accountId === null ? [] : await everySettingsOf(client, accountId);
  const tags = accountId === null ? null : await readTags(within(client), accountId);
  const before = new Map(stored.map(({ id, name }) => [name, { name, tags: tags?.get(id) ?? [] }]));
  const after = new Map(wanted !== null && prune ? [] : before);
  for (const { name, tags: own } of wanted ?? [])
    after.set(name, { name, tags: own ?? before.get(name)?.tags ?? [] });
  return new ScopeNames(new Map(stored.map(({ id, name }) => [id, name])), [...after.values()]);
}

const selectIds = `
  select connection_id as id
    from connection
   where account_id = $1 and name = any($2) and removed_at is null
   order by array_position($2, name), connection_id`;

/** A scope as it is stored. Connections that the file adds have ids only now. */
export async function storedScope(
  { client, accountId }: { client: pg.ClientBase; accountId: number },
  { exact, patterns }: DesiredScope,
): Promise<ConnectionScope> {
  if (exact === null) return { connection_ids: null, connection_names: patterns };
  const { rows } = await client.query<{ id: number }>(selectIds, [accountId, exact]);
  return { connection_ids: rows.map(({ id }) => id), connection_names: patterns };
}
