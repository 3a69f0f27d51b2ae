import type { Fault, Row } from './fault.ts';

/** What a finding does to indexes when somebody follows it. */
export type IndexAdvice = DropAdvice | OtherAdvice | CreateAdvice | KeyAdvice;

interface DropAdvice {
  /** `covered`: another index serves all its queries. `unused`: nothing read it. */
  action: 'drop';
  because: 'covered' | 'unused';
  /** The quoted name, unique in its database (MySQL: on its server). */
  index: string;
  /**
   * What the index is there for: for each purpose, the other indexes that serve it. One of them must stay. Those of a
   * covered index begin with the indexes that cover it.
   */
  purposes: readonly (readonly string[])[];
  /** The index is invalid, so no query uses it: it goes, and what covers it stays. */
  isInvalid?: true;
  /** The row that names this index as the one that covers it. */
  coveredBy?: (index: string) => Row;
}

interface OtherAdvice {
  /** `keep`: the finding makes a key of the index. `rebuild`: it stays, built anew. */
  action: 'keep' | 'rebuild';
  index: string;
}

interface CreateAdvice {
  action: 'create';
  table: string;
  /** The quoted columns, which may be in any order. */
  columns: readonly string[];
  /** The row that asks for an index with the columns in this order. */
  inOrder: (columns: readonly string[]) => Row;
}

interface KeyAdvice {
  /** The finding makes a key whose index begins with the columns. */
  action: 'key';
  table: string;
  columns: readonly string[];
}

/** A finding about indexes: its row, and what it does. */
export interface AdviceItem {
  row: Row;
  advice: IndexAdvice;
}

/** Rows whose finding the plan changes: null leaves it out, because another finding deals with the index. */
export type IndexPlan = ReadonlyMap<Row, Row | null>;

/** The rows of a check as the plan changes them. */
export function applyPlan(rows: readonly Row[], plan: IndexPlan | undefined): Row[] {
  return rows.flatMap((row) => {
    const change = plan?.get(row);
    if (change === null) return [];
    return [change ?? row];
  });
}

/** What the faults of a check do to indexes. */
export function adviceItems(
  judged: readonly { row: Row; fault: Fault | null }[],
  adviceOn: (row: Row) => IndexAdvice | null,
): AdviceItem[] {
  return judged.flatMap(({ row, fault }) => {
    const advice = fault && adviceOn(row);
    return advice ? [{ row, advice }] : [];
  });
}

/**
 * Reconciles the advice of a run about the indexes of a database, so that all of it can be followed at once: whatever an
 * index is there for still has an index afterwards, and one finding names it. An index that is used is kept rather than
 * a longer one that is not.
 */
export function planIndexes(items: readonly AdviceItem[]): IndexPlan {
  const changes = new Map<Row, Row | null>();
  const drops = new Drops(items);
  const listed = new Set<string>();
  for (const { row, advice } of inOrder(items)) {
    if (advice.action === 'create' || advice.action === 'key') continue;
    const isFree = !listed.has(advice.index);
    if (isFree && (advice.action !== 'drop' || drops.accept(advice))) listed.add(advice.index);
    else changes.set(row, null);
  }
  for (const { row, advice } of items) {
    if (advice.action !== 'drop' || !advice.coveredBy || changes.has(row)) continue;
    const survivor = drops.survivor(advice.purposes[0] ?? []);
    if (survivor !== undefined && survivor !== advice.purposes[0]?.[0])
      changes.set(row, advice.coveredBy(survivor));
  }
  return new Map([...changes, ...planCreations(items)]);
}

/** What an index is kept for comes first, then what is certain, then what depends on statistics. */
function inOrder(items: readonly AdviceItem[]): AdviceItem[] {
  const rank = ({ advice }: AdviceItem) => {
    if (advice.action !== 'drop') return advice.action === 'keep' ? 0 : 4;
    if (advice.isInvalid) return 1;
    return advice.because === 'covered' ? 2 : 3;
  };
  return items.toSorted((one, other) => rank(one) - rank(other));
}

/** The indexes that the plan drops. */
class Drops {
  readonly #kept: ReadonlySet<string>;
  readonly #unused: ReadonlySet<string>;
  readonly #dropped = new Map<string, DropAdvice>();

  constructor(items: readonly AdviceItem[]) {
    const advices = items.map(({ advice }) => advice);
    this.#kept = new Set(advices.flatMap((advice) => (advice.action === 'keep' ? advice.index : [])));
    // Those that could go if only the unused ones went: nothing else may rely on them.
    const unused = new Set<string>();
    for (const advice of advices) {
      if (advice.action !== 'drop' || advice.because !== 'unused' || this.#kept.has(advice.index)) continue;
      const serves = (other: string) => other !== advice.index && !unused.has(other);
      if (advice.purposes.every((purpose) => purpose.some(serves))) unused.add(advice.index);
    }
    this.#unused = unused;
  }

  /** Drops an index, unless it or something that relied on it would be left without one. */
  accept(advice: DropAdvice): boolean {
    const { index, because, purposes, isInvalid } = advice;
    if (this.#kept.has(index)) return false;
    const [covering = []] = purposes;
    // Of an index that is used and a longer one that is not, the longer one goes.
    const isUsed = because === 'covered' && !isInvalid && !this.#unused.has(index);
    if (isUsed && covering.every((each) => this.#unused.has(each))) return false;
    this.#dropped.set(index, advice);
    const isServed = [...this.#dropped.values()].every((each) =>
      each.purposes.every((purpose) => this.survivor(purpose) !== undefined),
    );
    if (!isServed) this.#dropped.delete(index);
    return isServed;
  }

  /** The first index of these that stays, or that covers one that goes. */
  survivor(purpose: readonly string[], seen: ReadonlySet<string> = new Set()): string | undefined {
    const stays = purpose.find((index) => !this.#dropped.has(index));
    if (stays !== undefined) return stays;
    for (const index of purpose) {
      const advice = this.#dropped.get(index);
      if (advice?.because !== 'covered' || seen.has(index)) continue;
      const heir = this.survivor(advice.purposes[0] ?? [], new Set([...seen, index]));
      if (heir !== undefined) return heir;
    }
    return undefined;
  }
}

/**
 * One new index serves all foreign keys of a table whose columns can be its first ones. A foreign key whose columns become
 * the first ones of a primary key needs none.
 */
function planCreations(items: readonly AdviceItem[]): [Row, Row | null][] {
  const keys = items.flatMap(({ advice }) => (advice.action === 'key' ? [advice] : []));
  const isServed = ({ table, columns }: CreateAdvice) =>
    keys.some((key) => key.table === table && columns.join() === key.columns.slice(0, columns.length).join());
  const creations = items.flatMap(({ row, advice }) =>
    advice.action === 'create' ? [{ row, ...advice }] : [],
  );
  const [served, others] = [creations.filter(isServed), creations.filter((each) => !isServed(each))];
  return [
    ...served.map(({ row }): [Row, null] => [row, null]),
    ...[...Map.groupBy(others, ({ table }) => table).values()].flatMap(planTable),
  ];
}

type Creation = CreateAdvice & { row: Row };

function planTable(creations: readonly Creation[]): [Row, Row | null][] {
  const [longest, ...shorter] = creations.toSorted((one, other) => other.columns.length - one.columns.length);
  if (!longest) return [];
  // Each is within the one before, so the columns of the shortest come first.
  let inner = longest.columns;
  let rest: string[] = [];
  const left: Creation[] = [];
  const changes: [Row, Row | null][] = [];
  for (const creation of shorter) {
    const { columns, row } = creation;
    if (columns.every((column) => inner.includes(column))) {
      rest = [...inner.filter((column) => !columns.includes(column)), ...rest];
      inner = columns;
      changes.push([row, null]);
    } else left.push(creation);
  }
  if (rest.length > 0) changes.push([longest.row, longest.inOrder([...inner, ...rest])]);
  return [...changes, ...planTable(left)];
}
