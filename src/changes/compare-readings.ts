import type { NewChange } from './connection-change.ts';
import type { Fact, ReadingKind, StoredFacts } from './facts.ts';

const TEXT = 200;
const DEFINITION = 1_000;

/** What a reading and the one before have in common. */
interface Place {
  kind: ReadingKind;
  database: string;
}

/**
 * What changed between two readings. Nothing if the login could see other things than before. A table that comes or goes
 * is one change, with all that belongs to it.
 */
export function compareReadings(place: Place, before: StoredFacts, after: StoredFacts): NewChange[] {
  if (before.basis !== after.basis) return [];
  const [was, is] = [byKey(before.facts), byKey(after.facts)];
  const changes: NewChange[] = [];
  for (const [key, fact] of is) {
    const old = was.get(key);
    if (old ? old[2] !== fact[2] : hasCome(place, fact, was)) changes.push(changeOf(place, old, fact));
  }
  for (const [key, fact] of was) {
    if (!is.has(key) && hasCome(place, fact, is)) changes.push(changeOf(place, fact, undefined));
  }
  // Another server has started at another time: that is no restart.
  return changes.filter(({ kind }) => kind !== 'restart' || serverOf(before) === serverOf(after));
}

function byKey(facts: readonly Fact[]): Map<string, Fact> {
  return new Map(facts.map((fact) => [keyOf(fact[0], fact[1], fact[3]?.database), fact]));
}

function keyOf(kind: string, subject: string, database = ''): string {
  return JSON.stringify([kind, database, subject]);
}

/** Whether a fact that the other reading lacks is a change. The server's settings come and go with versions and privileges only. */
function hasCome({ kind }: Place, [, , , more]: Fact, others: ReadonlyMap<string, Fact>): boolean {
  if (kind === 'setting' || kind === 'server') return false;
  return more?.of === undefined || others.has(keyOf('table', more.of));
}

function serverOf({ facts }: StoredFacts): string | undefined {
  return facts.find(([kind]) => kind === 'restart')?.[3]?.of;
}

function changeOf({ database }: Place, old: Fact | undefined, fact: Fact | undefined): NewChange {
  const [kind, subject, , more] = (fact ?? old) as Fact;
  const [before, after] = shownValues(kind, old?.[2] ?? null, fact?.[2] ?? null);
  return { kind, database: more?.database ?? database, subject, before, after, source: more?.source ?? null };
}

/** The values as they are listed. Of two long lists, such as `a=on,b=off`, only the items that differ. */
function shownValues(
  kind: string,
  before: string | null,
  after: string | null,
): [before: string | null, after: string | null] {
  const length = ['index', 'constraint', 'column'].includes(kind) ? DEFINITION : TEXT;
  if (before !== null && after !== null && Math.max(before.length, after.length) > length) {
    const [was, is] = [before.split(','), after.split(',')];
    const without = (items: string[], others: string[]) => {
      const known = new Set(others);
      return `… ${items.filter((item) => !known.has(item)).join(',')}`;
    };
    return [short(without(was, is), length), short(without(is, was), length)];
  }
  return [before && short(before, length), after && short(after, length)];
}

function short(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
