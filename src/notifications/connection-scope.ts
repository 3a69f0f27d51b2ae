import { normalisedTag } from '../platform/text/tags.ts';

/** The connections that a destination, a rule or a maintenance window is for. */
export interface ConnectionScope {
  /** null = any, unless there are names. */
  connection_ids: readonly number[] | null;
  /**
   * Names, in which `*` is any text; or tags, such as `tag:env:production`, or `tag:env:production+team:shop` for
   * connections with both. null = any, unless there are ids.
   */
  connection_names: readonly string[] | null;
}

/** What a scope is compared with. */
export interface ScopedConnection {
  id: number;
  name: string;
  tags: readonly string[];
}

type Matches = (connection: Omit<ScopedConnection, 'id'>) => boolean;

// A hundred windows are compared with each of ten thousand connections, so each is taken apart once.
const matchers = new WeakMap<ConnectionScope, (connection: ScopedConnection) => boolean>();

/** Whether a scope includes a connection: by its id, its name or its tags. */
export function includesConnection(scope: ConnectionScope, connection: ScopedConnection): boolean {
  let includes = matchers.get(scope);
  if (includes === undefined) {
    includes = matcherOf(scope);
    matchers.set(scope, includes);
  }
  return includes(connection);
}

function matcherOf({ connection_ids: ids, connection_names: names }: ConnectionScope) {
  if (ids === null && names === null) return () => true;
  const known = new Set(ids);
  const patterns = (names ?? []).map(patternMatcher);
  return (connection: ScopedConnection) =>
    known.has(connection.id) || patterns.some((matches) => matches(connection));
}

/** Whether a text in a scope is more than the name of a connection: it has a `*`, or means tags. */
export function isPattern(text: string): boolean {
  return text.includes('*') || tagsIn(text) !== null;
}

/** Returns whether a connection has the pattern's name, or all of its tags. */
export function patternMatcher(pattern: string): Matches {
  const wanted = tagsIn(pattern);
  if (wanted === null) return nameMatcher(pattern);
  if (wanted.includes(null)) return () => false;
  return ({ tags }) => wanted.every((tag) => tag !== null && tags.includes(tag));
}

/** What is wrong with the tags of patterns, in one sentence; null = nothing. */
export function wrongPattern(patterns: readonly string[] | null | undefined): string | null {
  const wrong = patterns?.some((pattern) => tagsIn(pattern)?.includes(null));
  return wrong ? 'Write tags as tag:env:production, and several as tag:env:production+team:shop.' : null;
}

const TAGS = 'tag:';

/** The tags of a pattern such as `tag:pci+team:shop`, with null for what is no tag; null for a pattern of names. */
function tagsIn(pattern: string): (string | null)[] | null {
  if (pattern.slice(0, TAGS.length).toLowerCase() !== TAGS) return null;
  return pattern.slice(TAGS.length).split('+').map(normalisedTag);
}

/** Returns whether a name is the pattern's, in any capitals. Takes linear time for each `*`, whatever the pattern is. */
function nameMatcher(pattern: string): Matches {
  const [first = '', ...rest] = pattern.toLowerCase().split('*');
  const last = rest.pop();
  return ({ name }) => {
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
  };
}
