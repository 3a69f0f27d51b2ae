import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

// A backup is gzipped lines: HEAD with JSON; for each table a "copy" line, rows in the text format of PostgreSQL's COPY,
// and END; LAST with JSON; SIGNED with a signature of the SHA-256 of everything before it.
const HEAD = '-- dbvitals backup ';
const LAST = '-- end ';
const SIGNED = '-- signed ';
const END = '\\.\n';

/** The first format, without a signature. */
const UNSIGNED_FORMAT = 1;
const FORMAT = 2;

const MIB = 1024 * 1024;
// The head and the end name each table once.
const LONGEST_LINE = MIB;
// The text of a health check, and a counter's value, have 16 MiB at most (monitor/limits.ts). COPY escapes some characters.
const LONGEST_ROW = 64 * MIB;
const CHUNK = MIB;
const LINE_BREAK = 0x0a;

/** The head of a backup. */
export interface BackupHead {
  format: typeof UNSIGNED_FORMAT | typeof FORMAT;
  /** The version of dbvitals that made it. */
  dbvitals: string;
  /** The time of the snapshot, ISO 8601. */
  made_at: string;
  /** The last migration of the store. */
  migration: string;
  tables: string[];
}

/** The end of a backup. */
export interface BackupEnd {
  /** By table: the number of rows, and the SHA-256 of their text, hexadecimal. */
  tables: Record<string, { rows: number; sha256: string }>;
  /** By `table.column`: the last number that was assigned; null = none. */
  identities: Record<string, number | null>;
}

export const headLine = (head: Omit<BackupHead, 'format'>) =>
  `${HEAD}${JSON.stringify({ format: FORMAT, ...head })}\n`;
export const copyLine = (table: string, columns: string) => `copy ${table} (${columns}) from stdin;\n`;
export const endOfRows = END;
export const lastLine = (end: BackupEnd) => `${LAST}${JSON.stringify(end)}\n`;
export const signatureLine = (signature: string) => `${SIGNED}${signature}\n`;

/** Whether a backup with this head ends with a signature. */
export function isOfSignedForm({ format }: BackupHead): boolean {
  return format !== UNSIGNED_FORMAT;
}

/** The end of a backup, with its signature. */
export interface SignedEnd {
  end: BackupEnd;
  /** The SHA-256 of everything before the signature. */
  sha256: Buffer;
  /** Hexadecimal; null = the backup's format has no signature. */
  signature: string | null;
}

/** The file is not a backup, or not a complete one. */
export class IncompleteBackup extends Error {
  constructor(why: string) {
    super(`This is not a complete backup of dbvitals: ${why}. Nothing was changed; use another file.`);
  }
}

/** Reads a backup from start to end. Each method throws a sentence if it finds something else. */
export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #taken = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);
  #isSigned = false;
  /** The tables of the head whose rows have not come yet. */
  #tables = new Set<string>();

  constructor(file: Readable) {
    const plain = createGunzip({ chunkSize: CHUNK });
    file.once('error', (error) => plain.destroy(error)).pipe(plain);
    this.#chunks = plain[Symbol.asyncIterator]();
  }

  async head(): Promise<BackupHead> {
    const line = await this.#line();
    const head: unknown = line.startsWith(HEAD) ? parse(line.slice(HEAD.length)) : null;
    if (isHead(head)) {
      this.#isSigned = isOfSignedForm(head);
      this.#tables = new Set(head.tables);
      return head;
    }
    throw new IncompleteBackup('its first line is not that of a backup');
  }

  /** The table whose rows come next, or the end. */
  async next(): Promise<{ table: string; columns: string } | SignedEnd> {
    const line = await this.#line();
    const [, table, columns] = /^copy ([a-z_]+) \(([a-z0-9_", ]+)\) from stdin;$/.exec(line) ?? [];
    if (table !== undefined && columns !== undefined) {
      // Also bounds the work: a small file can unpack to millions of these lines.
      if (!this.#tables.delete(table))
        throw new IncompleteBackup(
          'it contains rows of a table that its head does not name, or twice those of one',
        );
      return { table, columns };
    }
    const end: unknown = line.startsWith(LAST) ? parse(line.slice(LAST.length)) : null;
    if (!isEnd(end)) throw new IncompleteBackup('it contains an invalid line');
    const sha256 = this.#taken.copy().digest();
    const signature = this.#isSigned ? await this.#signature() : null;
    // Reading on also verifies gzip's checksum, which comes last.
    if (this.#rest.length > 0 || (await this.#chunk()))
      throw new IncompleteBackup('something follows its end');
    return { end, sha256, signature };
  }

  async #signature(): Promise<string> {
    const [, signature] = /^-- signed ([0-9a-f]{64})$/.exec(await this.#line()) ?? [];
    if (signature === undefined) throw new IncompleteBackup('its signature is missing');
    return signature;
  }

  /** The rows of the table that `next` returned. */
  async *rows(): AsyncGenerator<Buffer> {
    for (;;) {
      await this.#untilLineBreak(LONGEST_ROW, 'a row');
      const lines = this.#rest.subarray(0, this.#rest.lastIndexOf(LINE_BREAK) + 1);
      const rows = findEnd(lines);
      if (rows >= 0) {
        this.#taken.update(lines.subarray(0, rows + END.length));
        this.#rest = this.#rest.subarray(rows + END.length);
        if (rows > 0) yield lines.subarray(0, rows);
        return;
      }
      this.#taken.update(lines);
      this.#rest = this.#rest.subarray(lines.length);
      yield lines;
    }
  }

  async #line(): Promise<string> {
    await this.#untilLineBreak(LONGEST_LINE, 'a line');
    const at = this.#rest.indexOf(LINE_BREAK);
    const line = this.#rest.toString('utf8', 0, at);
    this.#taken.update(this.#rest.subarray(0, at + 1));
    this.#rest = this.#rest.subarray(at + 1);
    return line;
  }

  /** Reads on until the rest contains a line break. Each byte is looked at and copied once, however long the line is. */
  async #untilLineBreak(longest: number, what: string): Promise<void> {
    if (this.#rest.includes(LINE_BREAK)) return;
    const parts = [this.#rest];
    let length = this.#rest.length;
    for (;;) {
      if (length > longest) throw new IncompleteBackup(`it contains ${what} that is too long`);
      const chunk = await this.#chunk();
      if (!chunk) throw new IncompleteBackup('it ends too early');
      parts.push(chunk);
      length += chunk.length;
      if (chunk.includes(LINE_BREAK)) break;
    }
    this.#rest = Buffer.concat(parts);
  }

  /** The next bytes; null = there are none. */
  async #chunk(): Promise<Buffer | null> {
    try {
      const { value, done } = await this.#chunks.next();
      return done ? null : value;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (code.startsWith('Z_')) throw new IncompleteBackup('it is cut off or altered');
      throw error;
    }
  }
}

/** Throws a sentence if the rows that were read are not those that the end of the backup describes. */
export function refuseAltered(end: BackupEnd, found: BackupEnd['tables'], tables: readonly string[]): void {
  const altered = tables.find((table) => {
    const [wanted, got] = [end.tables[table], found[table]];
    return !wanted || !got || wanted.rows !== got.rows || wanted.sha256 !== got.sha256;
  });
  if (altered === undefined) return;
  throw new Error(
    `The backup was altered or damaged in the table ${altered}, and nothing was changed: use another file.`,
  );
}

const [BACKSLASH, DOT] = Buffer.from(END);

/** Where the end of the rows is in whole lines; -1 = not in these. A search for the text is slow where most lines are empty. */
function findEnd(lines: Buffer): number {
  let isStart = true;
  for (let at = 0; at < lines.length; at += 1) {
    if (isStart && lines[at] === BACKSLASH && lines[at + 1] === DOT && lines[at + 2] === LINE_BREAK)
      return at;
    isStart = lines[at] === LINE_BREAK;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// A version, a time, or a name. They are printed, also those of a file that nobody signed.
const PLAIN = /^[\w.:+-]{1,200}$/;
const isPlain = (value: unknown): value is string => typeof value === 'string' && PLAIN.test(value);

function isHead(head: unknown): head is BackupHead {
  return (
    isRecord(head) &&
    (head['format'] === FORMAT || head['format'] === UNSIGNED_FORMAT) &&
    [head['dbvitals'], head['made_at'], head['migration']].every(isPlain) &&
    Array.isArray(head['tables']) &&
    head['tables'].every(isPlain)
  );
}

function isEnd(end: unknown): end is BackupEnd {
  return (
    isRecord(end) &&
    isRecord(end['tables']) &&
    isRecord(end['identities']) &&
    Object.values(end['tables']).every((table) => isRecord(table) && typeof table['rows'] === 'number') &&
    Object.entries(end['identities']).every(
      ([column, last]) => /^[a-z_]+\.[a-z_]+$/.test(column) && (last === null || Number.isSafeInteger(last)),
    )
  );
}
