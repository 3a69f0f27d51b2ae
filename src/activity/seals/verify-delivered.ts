import {
  type DeliveredEntries,
  type DeliveredEntry,
  type DoubledRange,
  ForeignEntry,
  type Misplaced,
  openDelivered,
} from './delivered-entries.ts';
import type { SealWithLeaves } from './seal.ts';
import { type Broken, type Claim, type FoundFault, findFirstFault, type Verified } from './verify-log.ts';

/** What to verify. */
export interface DeliveredLog {
  directory: string;
  /** Null = the account of the first entry. */
  accountId: number | null;
  /** The first entry that must be there; null = the first that is. */
  fromId: number | null;
  /** The last one; null = the last that is sealed. */
  toId: number | null;
}

/** Where the seals of an account are, in the order of their numbers, and whether a key (hexadecimal) is trusted. */
export interface KnownSeals {
  seals: AsyncIterable<SealWithLeaves>;
  trusts(publicKey: string): boolean;
}

/** All entries of a range were delivered and are as they were sealed. */
export interface DeliveredVerified extends Verified {
  files: number;
  /** How many entries came more than once, and which: at most 1,000 ranges. */
  doubled: number;
  doubled_ranges: DoubledRange[];
  /** Records that are not in the order of ids. */
  misplaced: Misplaced[];
}

/** Where batches differ from the seals. */
export interface DeliveredBroken extends Broken {
  /** The file that has the entry; null = none has it. */
  file: string | null;
}

/**
 * Verifies the batches that a stream with the format `sealed` delivered: from the first entry to the last sealed one, each is
 * there and as it was sealed. Throws a sentence about files that hold something else.
 */
export async function verifyDelivered(
  log: DeliveredLog,
  findSeals: (accountId: number) => Promise<KnownSeals>,
): Promise<DeliveredVerified | DeliveredBroken> {
  try {
    const delivered = await openDelivered(log.directory, log.accountId);
    return await verify(delivered, log, await findSeals(delivered.accountId));
  } catch (error) {
    if (!(error instanceof ForeignEntry)) throw error;
    const { accountId, id, file, message } = error;
    return { verified: false, account_id: accountId, first_bad_id: id, how: 'inserted', message, file };
  }
}

async function verify(
  delivered: DeliveredEntries,
  { fromId, toId }: DeliveredLog,
  { seals, trusts }: KnownSeals,
): Promise<DeliveredVerified | DeliveredBroken> {
  const { accountId } = delivered;
  const claims = await startClaims(seals, fromId ?? delivered.firstId, toId);
  if (claims.isEmpty)
    throw new Error(
      `No seal covers entry ${claims.lowest} of account ${accountId}: give the seals of this account.`,
    );
  const verdict = await findFirstFault({
    accountId,
    claims: claims.each,
    fromStart: false,
    entries: async (first, last) =>
      (await delivered.between(first, last)).map(({ entry }) => ({ place: entry.id, entry })),
    lowest: claims.lowest,
    highest: toId ?? Number.MAX_SAFE_INTEGER,
    outlivesLeaves: true,
    cutTo: claims.lowest - 1, // earlier entries are not checked
    trusts,
  });
  if (!verdict.verified) return explainBroken(delivered, verdict, await claims.lastSealed());
  const gap = toId === null ? await delivered.gapAfter(verdict.last_id + 1) : null;
  if (gap !== null) return explainBroken(delivered, missing(accountId, gap), delivered.lastId);
  const conflict = [...delivered.conflicts.values()].toSorted(([a], [b]) => a.entry.id - b.entry.id)[0];
  if (conflict !== undefined) return toConflict(accountId, conflict);
  return {
    ...verdict,
    first_id: claims.lowest,
    cut_to: 0,
    unsealed: Math.max(0, Math.min(delivered.lastId, toId ?? delivered.lastId) - verdict.last_id),
    files: delivered.files,
    doubled: delivered.doubled,
    doubled_ranges: delivered.doubledRanges,
    misplaced: delivered.misplaced(),
  };
}

/**
 * The seals that cover the entries from one on. If the first of them has no hashes of single entries (retention removes them), it proves
 * its entries only together: then `lowest` is the first entry after it, unless the seal begins with `from`.
 */
async function startClaims(seals: AsyncIterable<SealWithLeaves>, from: number, toId: number | null) {
  const each = seals[Symbol.asyncIterator]();
  let last = 0;
  let lowest = from;
  async function nextClaim(): Promise<SealWithLeaves | null> {
    const { value, done } = await each.next();
    if (done) return null;
    const { seal, leaves } = value;
    if (toId !== null && (seal.first_id > toId || (leaves === null && seal.last_id > toId))) return null;
    last = seal.last_id;
    return value;
  }
  let first = await nextClaim();
  while (first && (first.seal.last_id < lowest || first.seal.first_id > first.seal.last_id))
    first = await nextClaim();
  if (first && first.leaves === null && first.seal.first_id < lowest) {
    lowest = first.seal.last_id + 1;
    first = await nextClaim();
  }
  async function* claims(): AsyncGenerator<Claim> {
    for (let sealed = first; sealed; sealed = await nextClaim()) yield { sealed };
  }
  return {
    isEmpty: first === null,
    lowest,
    each: claims(),
    /** The last sealed entry. Reads the seals to their end. */
    async lastSealed(): Promise<number> {
      while ((await nextClaim()) !== null);
      return Math.min(last, toId ?? last);
    },
  };
}

function missing(accountId: number, id: number): FoundFault {
  return {
    verified: false,
    account_id: accountId,
    first_bad_id: id,
    how: 'deleted',
    subject: 'entry',
    message: `Entry ${id} is missing.`,
  };
}

/** Names the file and the record of what is wrong. */
async function explainBroken(
  delivered: DeliveredEntries,
  { subject, ...broken }: FoundFault,
  lastId: number,
): Promise<DeliveredBroken> {
  const { account_id, first_bad_id: id, message } = broken;
  const conflict = delivered.conflicts.get(id);
  if (conflict !== undefined) return toConflict(account_id, conflict);
  if (subject !== 'entry') return { ...broken, file: null };
  const [entry] = await delivered.between(id, id);
  if (entry)
    return { ...broken, message: `${message.slice(0, -1)}: ${placeOf(entry)}.`, file: entry.file.name };
  const after = await delivered.next(id);
  const [before] = id > 1 ? await delivered.between(id - 1, id - 1) : [];
  const last = after ? after.entry.id - 1 : Math.max(lastId, id);
  const what =
    last === id
      ? `Entry ${id} of account ${account_id} is missing`
      : `Entries ${id} to ${last} of account ${account_id} are missing`;
  const near = [before, after].flatMap((one) => (one ? [`entry ${one.entry.id} is in ${placeOf(one)}`] : []));
  return { ...broken, message: `${what}: ${near.join('; ')}.`, file: (before ?? after)?.file.name ?? null };
}

function toConflict(accountId: number, [one, other]: [DeliveredEntry, DeliveredEntry]): DeliveredBroken {
  const { id } = one.entry;
  const message = `Entry ${id} of account ${accountId} was delivered twice with different contents: ${placeOf(one)}; ${placeOf(other)}.`;
  return {
    verified: false,
    account_id: accountId,
    first_bad_id: id,
    how: 'edited',
    message,
    file: other.file.name,
  };
}

function placeOf({ file, record }: DeliveredEntry): string {
  return `${file.name}, record ${record}`;
}
