import type { Change } from '../../activity/record-entry.ts';
import { changesOf, type Difference, type Step, type Steps } from './apply-step.ts';

/** A kind of thing that a list of the file describes. */
export interface Kind<Desired extends object, Stored extends object> {
  what: Difference['what'];
  /** Tells the things of a list apart. */
  key(thing: Desired | Stored): string;
  name(thing: Desired | Stored): string;
  /** The fields as the file has them. Null if there must be no such thing. */
  describe(desired: Desired, stored: Stored | undefined): object | null;
  describeStored(stored: Stored): object;
  add(change: Change, desired: Desired, fields: object): Promise<unknown>;
  /** `to` has the fields that differ. Without it, what differs is removed and added again. */
  change?(change: Change, stored: Stored, desired: Desired, to: object): Promise<unknown>;
  remove(change: Change, stored: Stored): Promise<unknown>;
  /** Whether it stays with `--prune` although the file does not name it. */
  isKept?(stored: Stored): boolean;
}

/** The steps that bring what is stored to the desired state. Several stored things of one key are one thing. */
export function reconcile<Desired extends object, Stored extends object>(
  kind: Kind<Desired, Stored>,
  account: string,
  desired: readonly Desired[],
  stored: readonly Stored[],
): Steps {
  const known = Map.groupBy(stored, (thing) => kind.key(thing));
  const named = new Set(desired.map((thing) => kind.key(thing)));
  return {
    wanted: desired.flatMap((thing) => stepFor(kind, account, thing, known.get(kind.key(thing)) ?? []) ?? []),
    unnamed: [...known].flatMap(([key, things]) =>
      named.has(key) || things.some((thing) => kind.isKept?.(thing)) ? [] : removal(kind, account, things),
    ),
  };
}

function stepFor<Desired extends object, Stored extends object>(
  kind: Kind<Desired, Stored>,
  account: string,
  desired: Desired,
  before: readonly Stored[],
): Step | null {
  const [first] = before;
  const fields = kind.describe(desired, first);
  if (fields === null) return first ? removal(kind, account, before) : null;
  const changes = changesOf<object>(first ? kind.describeStored(first) : {}, fields);
  if (before.length === 1 && changes.changed.length === 0) return null;
  const of = { what: kind.what, account, name: kind.name(desired) };
  return {
    difference: { action: first ? 'change' : 'add', ...of, ...changes, to: { ...changes.to } },
    make: async (change) => {
      if (first && kind.change) return kind.change(change, first, desired, changes.to);
      for (const thing of before) await kind.remove(change, thing);
      return kind.add(change, desired, fields);
    },
  };
}

function removal<Desired extends object, Stored extends object>(
  kind: Kind<Desired, Stored>,
  account: string,
  things: readonly Stored[],
): Step {
  const [first] = things;
  const of = { what: kind.what, account, name: first ? kind.name(first) : '' };
  return {
    difference: { action: 'remove', ...of, changed: [], from: {}, to: {} },
    make: async (change) => {
      for (const thing of things) await kind.remove(change, thing);
    },
  };
}
