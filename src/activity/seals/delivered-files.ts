import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { cleanText } from '../../platform/text/clean-text.ts';

/** A stored batch, or several in one file. */
export interface DeliveredFile {
  path: string;
  /** The path below the directory, printable. */
  name: string;
}

/** A JSON object of a file. */
export interface DeliveredRecord {
  bytes: Buffer;
  /** Where it begins, in bytes of the text. */
  offset: number;
}

const MOST_FILES = 200_000;
const MOST_DEPTH = 12;
/** Of a record, and of what is between two. The entries of a batch have at most 1 MiB. */
const MOST_BYTES = 1 << 20;
/** Of a decompressed file. */
const MOST_TEXT = 2 ** 33;
const CHUNK = 1 << 18;

/** The files below a directory, in the order of their names. Hidden ones are left out. Throws a sentence about what is no file. */
export async function listDelivered(directory: string): Promise<DeliveredFile[]> {
  const files: DeliveredFile[] = [];
  async function list(folder: string, depth: number): Promise<void> {
    for await (const item of await opendir(folder)) {
      if (item.name.startsWith('.')) continue;
      const path = join(folder, item.name);
      const name = cleanText(relative(directory, path), 200);
      if (item.isDirectory() && depth < MOST_DEPTH) await list(path, depth + 1);
      else if (!item.isFile())
        throw new Error(`${name} is not a plain file: name a directory that has only files of batches.`);
      else if (files.length === MOST_FILES)
        throw new Error(`The directory has more than ${MOST_FILES} files: verify parts of it.`);
      else files.push({ path, name });
    }
  }
  if (!(await lstat(directory)).isDirectory()) throw new Error('DIRECTORY must name a directory.');
  await list(directory, 1);
  return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Reads the JSON objects of a file, one array of them for each part that was read: objects one after another, by line or not, or
 * in arrays; gzip too. `offset` is where to begin. Throws a sentence about a file that is something else.
 */
export async function* readRecords(
  { path, name }: DeliveredFile,
  offset = 0,
): AsyncGenerator<DeliveredRecord[]> {
  const file = await openPlain(path, name);
  try {
    const scanner = new RecordScanner(name, offset);
    for await (const chunk of await textOf(file, name, offset)) yield scanner.scan(chunk);
    scanner.end();
  } finally {
    await file.close();
  }
}

/** Whether the file has to be read from its start, because it is compressed. */
export async function isCompressed({ path, name }: DeliveredFile): Promise<boolean> {
  const file = await openPlain(path, name);
  try {
    return await hasGzipMark(file);
  } finally {
    await file.close();
  }
}

/** Opens a file, but neither follows a link that took its place nor waits for a pipe. */
async function openPlain(path: string, name: string): Promise<FileHandle> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${name} can't be read (${error.code}).`);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${name} is not a plain file.`);
}

async function hasGzipMark(file: FileHandle): Promise<boolean> {
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
  return buffer[0] === 0x1f && buffer[1] === 0x8b;
}

async function textOf(file: FileHandle, name: string, offset: number): Promise<AsyncIterable<Buffer>> {
  const compressed = await hasGzipMark(file);
  const bytes = file.createReadStream({
    start: compressed ? 0 : offset,
    highWaterMark: CHUNK,
    autoClose: false,
  });
  return compressed ? decompress(bytes, name) : bytes;
}

async function* decompress(bytes: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const reading = pipeline(bytes, gunzip).catch(() => {}); // the loop below gets the error
  let size = 0;
  try {
    for await (const chunk of gunzip) {
      size += chunk.length;
      if (size > MOST_TEXT) throw new Error(`${name} has more than 8 GiB of text: verify it in parts.`);
      yield chunk;
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw /^Z_|^ERR_/.test(code) ? new Error(`${name} is not whole: its gzip data is damaged.`) : error;
  } finally {
    gunzip.destroy();
    await reading;
  }
}

const [OPEN, CLOSE, QUOTE, BACKSLASH] = [0x7b, 0x7d, 0x22, 0x5c];
const BETWEEN = new Set(Buffer.from(' \t\r\n,[]'));
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Finds the JSON objects in a text that comes in parts. It keeps one object at most. */
class RecordScanner {
  readonly #name: string;
  #kept: Buffer = Buffer.alloc(0);
  /** Where the kept bytes begin, and how many of them were looked at. */
  #offset: number;
  #seen = 0;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #between = 0;
  #records = 0;

  constructor(name: string, offset: number) {
    this.#name = name;
    this.#offset = offset;
  }

  scan(chunk: Buffer): DeliveredRecord[] {
    const bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const records: DeliveredRecord[] = [];
    let start = 0;
    let at = this.#seen;
    if (this.#offset === 0 && at === 0 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) at = 3;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#depth === 0) {
        if (byte === OPEN) {
          start = at;
          this.#depth = 1;
          this.#between = 0;
        } else this.#pass(byte);
      } else if (this.#closes(byte)) {
        records.push({ bytes: bytes.subarray(start, at + 1), offset: this.#offset + start });
        this.#records += 1;
      }
    }
    if (this.#depth === 0) start = bytes.length;
    if (bytes.length - start > MOST_BYTES)
      throw new Error(
        `${this.#name}, record ${this.#records + 1}, is longer than 1 MiB, so it is not an entry.`,
      );
    this.#kept = Buffer.from(bytes.subarray(start));
    this.#offset += start;
    this.#seen = bytes.length - start;
    return records;
  }

  end(): void {
    if (this.#depth > 0)
      throw new Error(`${this.#name} is not whole: it ends within record ${this.#records + 1}.`);
  }

  #pass(byte: number): void {
    this.#between += 1;
    if (!BETWEEN.has(byte) || this.#between > MOST_BYTES)
      throw new Error(`${this.#name} is not JSON of entries: see what follows record ${this.#records}.`);
  }

  /** Whether the object ends with this byte. */
  #closes(byte: number): boolean {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isText = false;
    } else if (byte === QUOTE) this.#isText = true;
    else if (byte === OPEN) this.#depth += 1;
    else if (byte === CLOSE) this.#depth -= 1;
    return this.#depth === 0;
  }
}
