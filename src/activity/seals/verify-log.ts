import { hash } from 'node:crypto';
import { type CanonicalEntry, LEAF_BYTES, leafOf, NO_LEAF } from './canonical-entry.ts';
import { LateEntries, type LateRange } from './late-entries.ts';
import { isSigned, NO_SEAL, type Seal, type SealWithLeaves, type SignedSeal, sealHash } from './seal.ts';

/** What became of a sealed log. Ids and messages name the first place only. */
type Fault = 'edited' | 'deleted' | 'inserted' | 'reordered' | 'seal forged' | 'seal missing';

/** All that could be checked is as it was sealed. */
export interface Verified {
  verified: true;
  account_id: number;
  /** The first entry that is there; `last_id` + 1 when none is. */
  first_id: number;
  /** The last entry that is sealed; 0 when none is. */
  last_id: number;
  /** Retention was allowed to cut the entries up to this one. */
  cut_to: number;
  seals: number;
  /** When the last seal was made; null when there is none. */
  sealed_at: string | null;
  /** How many entries follow that no seal holds yet. */
  unsealed: number;
  /** Entries that were sealed more than an hour after they happened: somebody may have altered them in between. */
  late: LateRange[];
  /** The keys that signed, hexadecimal. */
  public_keys: string[];
}

/** Something is not as it was sealed. */
export interface Broken {
  verified: false;
  account_id: number;
  first_bad_id: number;
  how: Fault;
  message: string;
}

/** An entry and where it stands: its id in the store, its line in a file. */
export interface PlacedEntry {
  place: number;
  entry: CanonicalEntry;
}

/** A seal to check the log by, and what the store has in its place: null = nothing, absent = it is from there. */
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
  /** The entries at places from `first` to `last`, in order. It is asked for ever higher ones. */
  entries(first: number, last: number): Promise<PlacedEntry[]>;
  /** The places that are looked at; the lowest is the first that holds an entry. */
  lowest: number;
  highest: number;
  /** The highest id that a seal with a good signature lets retention cut. */
  cutTo: number;
  /** Whether the key (hexadecimal) is one of ours. */
  trusts(publicKey: string): boolean;
}

/**
 * Compares a log with its seals, in the order of ids, in the memory of some seals' entries. Gives the first place where
 * they differ, or how far they agree (`unsealed` is the caller's to know). What can't be read is thrown.
 */
export async function verifyLog(log: SealedLog): Promise<Verified | Broken> {
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
    if (broken) return { verified: false, account_id: log.accountId, ...broken };
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

type Place = Pick<Broken, 'first_bad_id' | 'how' | 'message'>;

function sealFault(log: SealedLog, { seal, signature }: SignedSeal, before: Seal | null): Place | null {
  const of = `of account ${log.accountId}`;
  const expected = before ? before.last_id + 1 : seal.first_id;
  const forged = (why: string): Place => {
    const message = `Seal ${seal.number} ${of}, from entry ${expected} on, is forged: ${why}.`;
    return { first_bad_id: expected, how: 'seal forged', message };
  };
  if (!log.trusts(seal.public_key)) return forged('it is signed with a key that is not ours');
  if (!isSigned({ seal, signature })) return forged('its signature does not fit');
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
    return forged('it does not follow the one before');
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
  const message = `${of} is forged in the store: it is not the one of the export.`;
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

/** The leaves, if they are those that were signed. */
function leavesOf({ seal, leaves }: SealWithLeaves): Buffer | null {
  return leaves !== null && hash('sha256', leaves) === seal.leaves_sha256 ? leaves : null;
}

/** What can be told of a seal whose leaves are gone or altered: whether its entries from `first` on are all there and right. */
function withoutLeaves(
  log: SealedLog,
  { seal, leaves }: SealWithLeaves,
  found: PlacedEntry[],
  first: number,
): Place | null {
  // The leaves go in the statement that cuts the last of the entries.
  if (seal.last_id <= log.cutTo && leaves === null && found[0])
    return faultAt(log, found[0].place, 'inserted');
  const gap = found.findIndex(({ place }, index) => place !== first + index);
  const count = gap < 0 ? found.length : gap;
  if (first + count <= Math.min(seal.last_id, log.highest)) return faultAt(log, first + count, 'deleted');
  const of = `of account ${log.accountId}`;
  const own = Buffer.concat(found.map(({ entry }) => leafOf(entry)));
  if (hash('sha256', own) === seal.leaves_sha256) {
    const message = `The hashes of seal ${seal.number} ${of}, from entry ${seal.first_id} on, were altered; its entries were not.`;
    return { first_bad_id: seal.first_id, how: 'seal forged', message };
  }
  const message = `One of the entries ${first} to ${seal.last_id} ${of} may be altered, for the hashes of seal ${seal.number} were: --seal-file tells which.`;
  return { first_bad_id: first, how: 'seal forged', message };
}

function faultAt(log: SealedLog, id: number, how: Fault, beforeSealed = false): Place {
  const message = `Entry ${id} of account ${log.accountId} was ${how}${beforeSealed ? ' before it was sealed' : ''}.`;
  return { first_bad_id: id, how, message };
}

/**
 * How an entry that is not the sealed one came to its place: where further up is the sealed one, and where does this one
 * belong? An entry that is both altered and moved is called edited.
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
