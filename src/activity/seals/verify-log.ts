import { hash } from 'node:crypto';
import { type CanonicalEntry, LEAF_BYTES, leafOf, NO_LEAF } from '../canonical-entry.ts';
import { LateEntries, type LateRange } from './late-entries.ts';
import { isSigned, NO_SEAL, type Seal, type SealWithLeaves, type SignedSeal, sealHash } from './seal.ts';

/** How a sealed log was altered. Ids and messages name only the first place. */
type Fault = 'edited' | 'deleted' | 'inserted' | 'reordered' | 'seal forged' | 'seal missing';

/** Everything that could be checked is unchanged since it was sealed. */
export interface Verified {
  verified: true;
  account_id: number;
  /** The first existing entry; `last_id` + 1 if there is none. */
  first_id: number;
  /** The last sealed entry; 0 if there is none. */
  last_id: number;
  /** Retention was allowed to delete the entries up to this one. */
  cut_to: number;
  seals: number;
  /** When the last seal was made; null if there is none. */
  sealed_at: string | null;
  /** The number of later entries that are not sealed yet. */
  unsealed: number;
  /** Entries that were sealed more than an hour late: they may have been altered before. */
  late: LateRange[];
  /** The public keys that signed, hexadecimal. */
  public_keys: string[];
}

/** Something was altered after it was sealed. */
export interface Broken {
  verified: false;
  account_id: number;
  first_bad_id: number;
  how: Fault;
  message: string;
}

/** What a fault is about: one entry, one that was gone when it was sealed, or a seal with its entries. */
type Subject = 'entry' | 'entry gone before' | 'seal';

/** A fault for who explains it further. */
export interface FoundFault extends Broken {
  subject: Subject;
}

/** An entry and its position: its id in the store, its line in a file. */
export interface PlacedEntry {
  place: number;
  entry: CanonicalEntry;
}

/**
 * A seal to check the log with, and the store's copy of it: null = missing; undefined = the seal itself is from the
 * store.
 */
export interface Claim {
  sealed: SealWithLeaves;
  stored?: SignedSeal | null;
}

/** A log to verify. */
export interface SealedLog {
  accountId: number;
  /** In the order of their numbers. */
  claims: AsyncIterator<Claim>;
  /** Whether the first claim must be the account's first seal. */
  fromStart: boolean;
  /** The entries at positions `first` to `last`, in order. Each call asks for higher positions. */
  entries(first: number, last: number): Promise<PlacedEntry[]>;
  /** The positions to check; the lowest is the first with an entry. */
  lowest: number;
  highest: number;
  /** Whether a seal may be without the hashes of its entries, because the log was copied before retention removed them. */
  outlivesLeaves?: boolean;
  /** The highest id that a validly signed seal lets retention delete. */
  cutTo: number;
  /** Whether the key (hexadecimal) is one of ours. */
  trusts(publicKey: string): boolean;
}

/** {@link findFirstFault} as it is shown. */
export async function verifyLog(log: SealedLog): Promise<Verified | Broken> {
  const verdict = await findFirstFault(log);
  if (verdict.verified) return verdict;
  const { subject: _, ...broken } = verdict;
  return broken;
}

/**
 * Compares a log with its seals in the order of ids, with a few seals' entries in memory. Returns the first place
 * where they differ, or how far they agree (the caller sets `unsealed`). Throws if something can't be read.
 */
export async function findFirstFault(log: SealedLog): Promise<Verified | FoundFault> {
  const keys = new Set<string>();
  const late = new LateEntries();
  let before: Seal | null = null;
  let seals = 0;
  for (;;) {
    const { value: claim, done } = await log.claims.next();
    if (done) break;
    const { seal } = claim.sealed;
    const broken =
      sealFault(log, claim.sealed, before) ??
      (await entriesFault(log, claim.sealed, before === null, late)) ??
      storedFault(log, claim);
    if (broken) return { verified: false, account_id: log.accountId, subject: 'seal', ...broken };
    keys.add(seal.public_key);
    before = seal;
    seals += 1;
  }
  const last = before?.last_id ?? 0;
  return {
    verified: true,
    account_id: log.accountId,
    first_id: Math.min(Math.max(log.lowest, 1), last + 1),
    last_id: Math.min(last, log.highest),
    cut_to: log.cutTo,
    seals,
    sealed_at: before?.sealed_at ?? null,
    unsealed: 0,
    late: late.ranges(),
    public_keys: [...keys],
  };
}

/** Without a subject it is about a seal. */
type Place = Pick<Broken, 'first_bad_id' | 'how' | 'message'> & { subject?: Subject };

function sealFault(log: SealedLog, { seal, signature }: SignedSeal, before: Seal | null): Place | null {
  const of = `of account ${log.accountId}`;
  const expected = before ? before.last_id + 1 : seal.first_id;
  const forged = (why: string): Place => {
    const message = `Seal ${seal.number} ${of}, from entry ${expected} on, is forged: ${why}.`;
    return { first_bad_id: expected, how: 'seal forged', message };
  };
  if (!log.trusts(seal.public_key)) return forged('it is signed with a key that is not ours');
  if (!isSigned({ seal, signature })) return forged('its signature is invalid');
  if (seal.account_id !== log.accountId) return forged(`it is of account ${seal.account_id}`);
  const number = before ? before.number + 1 : log.fromStart ? 1 : seal.number;
  const late = !before && !log.fromStart && seal.first_id > log.lowest;
  if (seal.number !== number || late) {
    const from = before ? expected : Math.min(Math.max(log.lowest, 1), expected);
    const message = `${late ? 'A seal' : `Seal ${number}`} ${of}, from entry ${from} on, is missing.`;
    return { first_bad_id: from, how: 'seal missing', message };
  }
  const previous = before ? sealHash(before) : number === 1 ? NO_SEAL : seal.previous;
  if (seal.previous !== previous || seal.first_id !== expected)
    return forged('it does not follow the previous seal');
  return null;
}

function storedFault(log: SealedLog, { sealed: { seal }, stored }: Claim): Place | null {
  if (stored === undefined) return null;
  const of = `Seal ${seal.number} of account ${log.accountId}, from entry ${seal.first_id} on,`;
  if (stored === null) {
    const message = `${of} is missing in the store.`;
    return { first_bad_id: seal.first_id, how: 'seal missing', message };
  }
  if (sealHash(stored.seal) === sealHash(seal) && isSigned(stored)) return null;
  const message = `${of} is forged in the store: it differs from the one in the file.`;
  return { first_bad_id: seal.first_id, how: 'seal forged', message };
}

async function entriesFault(
  log: SealedLog,
  sealed: SealWithLeaves,
  isFirst: boolean,
  late: LateEntries,
): Promise<Place | null> {
  const { seal } = sealed;
  if (isFirst && log.lowest < seal.first_id && log.fromStart) return faultAt(log, log.lowest, 'inserted');
  const first = Math.max(seal.first_id, Math.min(log.lowest, log.cutTo + 1));
  const last = Math.min(seal.last_id, log.highest);
  if (first > last) return null;
  const found = await log.entries(first, last);
  late.note(
    found.map(({ entry }) => entry),
    seal.sealed_at,
  );
  const leaves = leavesOf(sealed);
  if (leaves === null) return withoutLeaves(log, sealed, found, first);

  const leafAt = (place: number) =>
    leaves.subarray((place - seal.first_id) * LEAF_BYTES, (place - seal.first_id + 1) * LEAF_BYTES);
  let next = 0;
  for (let place = first; place <= last; place += 1) {
    const at = found[next];
    if (at?.place !== place) return faultAt(log, place, 'deleted', leafAt(place).equals(NO_LEAF));
    next += 1;
    if (leafOf(at.entry).equals(leafAt(place))) continue;
    if (leafAt(place).equals(NO_LEAF)) return faultAt(log, place, 'inserted');
    const others = found.slice(next).map((other) => ({ ...other, leaf: leafAt(other.place) }));
    return faultAt(log, place, await explain(log, at, leafAt(place), others));
  }
  return null;
}

/** The leaves, if they match the signed hash. */
function leavesOf({ seal, leaves }: SealWithLeaves): Buffer | null {
  return leaves !== null && hash('sha256', leaves) === seal.leaves_sha256 ? leaves : null;
}

/**
 * Checks a seal whose leaves are missing or altered: only whether all its entries from `first` on exist and match its
 * hash.
 */
function withoutLeaves(
  log: SealedLog,
  { seal, leaves }: SealWithLeaves,
  found: PlacedEntry[],
  first: number,
): Place | null {
  // The statement that deletes the last of the entries also deletes the leaves.
  if (seal.last_id <= log.cutTo && leaves === null && found[0])
    return faultAt(log, found[0].place, 'inserted');
  const gap = found.findIndex(({ place }, index) => place !== first + index);
  const count = gap < 0 ? found.length : gap;
  if (first + count <= Math.min(seal.last_id, log.highest)) return faultAt(log, first + count, 'deleted');
  const of = `of account ${log.accountId}`;
  const own = Buffer.concat(found.map(({ entry }) => leafOf(entry)));
  const isMatch = hash('sha256', own) === seal.leaves_sha256;
  if (leaves === null && log.outlivesLeaves) {
    if (isMatch) return null;
    const message = `One of the entries ${first} to ${seal.last_id} ${of} was altered. Seal ${seal.number} has no hashes of single entries, which would say which one.`;
    return { first_bad_id: first, how: 'edited', message };
  }
  if (isMatch) {
    const message = `The hashes of seal ${seal.number} ${of}, from entry ${seal.first_id} on, were altered; its entries were not.`;
    return { first_bad_id: seal.first_id, how: 'seal forged', message };
  }
  const message = `One of the entries ${first} to ${seal.last_id} ${of} may be altered, because the hashes of seal ${seal.number} were. Verify with --seal-file to find the entry.`;
  return { first_bad_id: first, how: 'seal forged', message };
}

function faultAt(log: SealedLog, id: number, how: Fault, beforeSealed = false): Place {
  const message = `Entry ${id} of account ${log.accountId} was ${how}${beforeSealed ? ' before it was sealed' : ''}.`;
  return { first_bad_id: id, how, message, subject: beforeSealed ? 'entry gone before' : 'entry' };
}

/**
 * Explains why a position has another entry than the sealed one, by searching higher positions for both. An entry
 * that was both altered and moved counts as edited.
 */
async function explain(
  log: SealedLog,
  { place, entry }: PlacedEntry,
  leaf: Buffer,
  others: (PlacedEntry & { leaf: Buffer })[],
): Promise<Fault> {
  let own = false;
  let elsewhere = false;
  for (let chunk: typeof others | null = others; chunk; chunk = await nextEntries(log)) {
    for (const other of chunk) {
      own ||= leafOf({ ...other.entry, id: place }).equals(leaf);
      elsewhere ||= leafOf({ ...entry, id: other.place }).equals(other.leaf);
      if (own && elsewhere) return 'reordered';
    }
  }
  return own ? 'inserted' : elsewhere ? 'deleted' : 'edited';
}

async function nextEntries(log: SealedLog): Promise<(PlacedEntry & { leaf: Buffer })[] | null> {
  const { value: claim, done } = await log.claims.next();
  if (done) return null;
  const { seal } = claim.sealed;
  const leaves = leavesOf(claim.sealed);
  const last = Math.min(seal.last_id, log.highest);
  if (leaves === null || seal.first_id > last) return [];
  return (await log.entries(seal.first_id, last)).map((other) => ({
    ...other,
    leaf: leaves.subarray(
      (other.place - seal.first_id) * LEAF_BYTES,
      (other.place - seal.first_id + 1) * LEAF_BYTES,
    ),
  }));
}
