import { type CanonicalEntry, ENTRY_FIELDS, leafOf } from '../canonical-entry.ts';
import { type DeliveredFile, isCompressed, listDelivered, readRecords } from './delivered-files.ts';

/** An entry and where it stands: the file, and the record in it, from 1. */
export interface DeliveredEntry {
  entry: CanonicalEntry;
  leaf: Buffer;
  file: DeliveredFile;
  record: number;
}

/** Consecutive entries that a file has although they were delivered before, from `record` on. */
export interface DoubledRange {
  first_id: number;
  last_id: number;
  file: string;
  record: number;
  /** The file that has the first of them too. */
  also_in: string;
}

/** A record whose entry is older than the one before it in its file. */
export interface Misplaced {
  id: number;
  file: string;
  record: number;
}

/** A part of a file that is read at once. */
interface Block {
  file: DeliveredFile;
  offset: number;
  /** How many records of the file come before it, and how many it has. */
  before: number;
  records: number;
  first_id: number;
  last_id: number;
}

const RECORDS_A_BLOCK = 4_096;
const IDS_A_PAGE = 16_384;
/** Of the entries that are in memory. */
const MOST_BYTES = 1 << 27;
/** Further ones are only counted. */
const MOST_LISTED = 1_000;

/** The entries of a directory, by id, a page of them in memory. Read them in the order of their ids. */
export class DeliveredEntries {
  readonly accountId: number;
  readonly files: number;
  readonly records: number;
  readonly firstId: number;
  readonly lastId: number;
  /** Entries that came again. */
  doubled = 0;
  readonly doubledRanges: DoubledRange[] = [];
  /** Another text of an entry that came before, by id. */
  readonly conflicts = new Map<number, [DeliveredEntry, DeliveredEntry]>();
  readonly #blocks: readonly Block[];
  readonly #misplaced: ReadonlyMap<string, Misplaced>;
  readonly #again = new Set<string>();
  /** What came again is listed up to this id. */
  #noted = 0;
  #page = { first: 0, last: -1, entries: new Map<number, DeliveredEntry>() };

  constructor({ accountId, files, blocks, misplaced }: DeliveredIndex) {
    this.accountId = accountId;
    this.files = files;
    this.records = blocks.reduce((sum, { records }) => sum + records, 0);
    this.firstId = blocks[0]?.first_id ?? 0;
    this.lastId = blocks.reduce((last, { last_id }) => Math.max(last, last_id), 0);
    this.#blocks = blocks;
    this.#misplaced = misplaced;
  }

  /** The entries of a range, in order. */
  async between(first: number, last: number): Promise<DeliveredEntry[]> {
    if (first < this.#page.first || last > this.#page.last) await this.#turn(first, last);
    const found: DeliveredEntry[] = [];
    for (let id = first; id <= last; id += 1) {
      const entry = this.#page.entries.get(id);
      if (entry) found.push(entry);
    }
    return found;
  }

  /** The first entry with this id or a higher one. */
  async next(id: number): Promise<DeliveredEntry | null> {
    for (let from = id; from <= this.lastId; ) {
      const near = this.#blocks.filter(({ last_id }) => last_id >= from);
      from = Math.max(
        from,
        near.reduce((least, { first_id }) => Math.min(least, first_id), this.lastId),
      );
      const to = Math.min(from + 999, this.lastId);
      const [entry] = await this.between(from, to);
      if (entry) return entry;
      from = to + 1;
    }
    return null;
  }

  /** The first missing id from one on, where what lies between was looked at; null = up to the last there is no gap. */
  async gapAfter(id: number): Promise<number | null> {
    for (let from = id; from <= this.lastId; from += 1_000) {
      const to = Math.min(from + 999, this.lastId);
      const found = await this.between(from, to);
      const gap = found.findIndex(({ entry }, at) => entry.id !== from + at);
      if (gap >= 0) return from + gap;
      if (found.length < to - from + 1) return from + found.length;
    }
    return null;
  }

  /** The records that are out of order. What came twice is not among them. */
  misplaced(): Misplaced[] {
    return [...this.#misplaced].flatMap(([key, misplaced]) => (this.#again.has(key) ? [] : [misplaced]));
  }

  async #turn(first: number, last: number): Promise<void> {
    for (
      let to = Math.max(last, first + IDS_A_PAGE - 1);
      ;
      to = Math.max(last, first + Math.floor((to - first) / 2))
    ) {
      const page = await this.#read(first, to);
      if (page === null && to === last)
        throw new Error(
          `The entries ${first} to ${last} have more than 128 MiB: this is no log of dbvitals.`,
        );
      if (page === null) continue;
      this.#page = { first, last: to, entries: page.entries };
      for (const [one, other] of page.conflicts)
        if (!this.conflicts.has(one.entry.id)) this.conflicts.set(one.entry.id, [one, other]);
      for (const again of page.again) if (again.id > this.#noted) this.#noteDoubled(again);
      if (to > this.#noted) this.doubled += page.unlisted;
      this.#noted = Math.max(this.#noted, to);
      return;
    }
  }

  /** The entries of a page, and what came again; null = they are too large. */
  async #read(first: number, last: number) {
    const entries = new Map<number, DeliveredEntry>();
    const conflicts: [DeliveredEntry, DeliveredEntry][] = [];
    const again: Doubled[] = [];
    let [bytes, unlisted] = [0, 0];
    for (const block of this.#blocks) {
      if (block.first_id > last) break; // they are in this order
      if (block.last_id < first) continue;
      for await (const { found, size } of entriesOf(block)) {
        const { id } = found.entry;
        if (id < first || id > last) continue;
        const other = entries.get(id);
        if (other === undefined) {
          entries.set(id, found);
          bytes += size;
          if (bytes > MOST_BYTES) return null;
        } else if (!other.leaf.equals(found.leaf)) {
          if (conflicts.length < MOST_LISTED) conflicts.push([other, found]);
        } else if (again.length < IDS_A_PAGE)
          again.push({ id, file: found.file, record: found.record, other: other.file });
        else unlisted += 1;
      }
    }
    return { entries, conflicts, again, unlisted };
  }

  #noteDoubled({ id, file: { name, path }, record, other }: Doubled): void {
    this.doubled += 1;
    const key = `${record} ${path}`;
    if (this.#misplaced.has(key)) this.#again.add(key);
    const before = this.doubledRanges.at(-1);
    const follows =
      before?.file === name && before.last_id === id - 1 && before.record + id - before.first_id === record;
    if (before && follows) before.last_id = id;
    else if (this.doubledRanges.length < MOST_LISTED)
      this.doubledRanges.push({ first_id: id, last_id: id, file: name, record, also_in: other.name });
  }
}

interface Doubled {
  id: number;
  file: DeliveredFile;
  record: number;
  other: DeliveredFile;
}

interface DeliveredIndex {
  accountId: number;
  files: number;
  blocks: readonly Block[];
  misplaced: ReadonlyMap<string, Misplaced>;
}

/**
 * Reads which entries the files of a directory have. All must be of one account, `accountId` unless it is null. Throws a sentence about
 * a file that holds something else.
 */
export async function openDelivered(directory: string, accountId: number | null): Promise<DeliveredEntries> {
  const files = await listDelivered(directory);
  const blocks: Block[] = [];
  const misplaced = new Map<string, Misplaced>();
  let account = accountId;
  for (const file of files) {
    const isWhole = await isCompressed(file);
    let block: Block | null = null;
    let [before, last] = [0, 0];
    for await (const records of readRecords(file)) {
      for (const { bytes, offset } of records) {
        const { id, account_id } = parseEntry(bytes, file, before + 1).entry;
        account ??= account_id;
        if (account_id !== account) throw new ForeignEntry(file, before + 1, id, account_id, account);
        if (block === null || (!isWhole && block.records === RECORDS_A_BLOCK)) {
          block = { file, offset, before, records: 0, first_id: id, last_id: id };
          blocks.push(block);
        }
        before += 1;
        block.records += 1;
        block.first_id = Math.min(block.first_id, id);
        block.last_id = Math.max(block.last_id, id);
        if (id < last && misplaced.size < MOST_LISTED)
          misplaced.set(`${before} ${file.path}`, { id, file: file.name, record: before });
        last = id;
      }
    }
  }
  if (account === null || blocks.length === 0) throw new Error('The directory has no entries.');
  blocks.sort((a, b) => a.first_id - b.first_id);
  return new DeliveredEntries({ accountId: account, files: files.length, blocks, misplaced });
}

/** An entry of another account than the one that is verified. */
export class ForeignEntry extends Error {
  readonly accountId: number;
  readonly id: number;
  readonly file: string;

  constructor({ name }: DeliveredFile, record: number, id: number, of: number, accountId: number) {
    super(`${name}, record ${record}, is entry ${id} of account ${of}, not of account ${accountId}.`);
    this.accountId = accountId;
    this.id = id;
    this.file = name;
  }
}

async function* entriesOf({
  file,
  offset,
  before,
  records,
}: Block): AsyncGenerator<{ found: DeliveredEntry; size: number }> {
  let record = before;
  for await (const part of readRecords(file, offset)) {
    for (const { bytes } of part) {
      record += 1;
      yield { found: { ...parseEntry(bytes, file, record), file, record }, size: bytes.length };
      if (record === before + records) return;
    }
  }
}

/** Parses an entry as a stream with the format `sealed` sends it. The order of its fields and blanks are of no account: its leaf is. */
function parseEntry(
  bytes: Buffer,
  { name }: DeliveredFile,
  record: number,
): { entry: CanonicalEntry; leaf: Buffer } {
  try {
    const entry = unwrap(JSON.parse(bytes.toString())) as CanonicalEntry;
    const isEntry =
      isId(entry.id) &&
      isId(entry.account_id) &&
      Object.keys(entry).length === ENTRY_FIELDS.length &&
      ENTRY_FIELDS.every((field) => Object.hasOwn(entry, field)) &&
      typeof entry.occurred_at === 'string' &&
      typeof entry.action_type === 'string';
    if (isEntry) return { entry, leaf: leafOf(entry) };
  } catch {} // not JSON, or nested too deep
  throw new Error(
    `${name}, record ${record}, is not an entry of the activity log: verify what a stream with --format sealed delivered.`,
  );
}

/** What Splunk's collector gets, and what a search of Splunk exports, has the entry within. */
function unwrap(record: unknown): unknown {
  const { event, result } = record as { event?: unknown; result?: { _raw?: unknown } };
  if (typeof result?._raw === 'string') return JSON.parse(result._raw);
  return typeof event === 'object' && event !== null ? event : record;
}

function isId(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
