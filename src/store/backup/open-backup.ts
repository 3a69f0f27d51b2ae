import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { IncompleteBackup } from './backup-file.ts';

const CHUNK = 256 * 1024;

// How every file of gzip begins.
const GZIP = Buffer.from([0x1f, 0x8b]);

/** An open backup, which can be read several times: {@link openBackup}. */
export interface OpenBackup {
  /** A stream of the file from its start. `progress` gets how many bytes were read, and how many there are. */
  read(progress?: (bytes: number, total: number) => void): Readable;
  close(): Promise<void>;
}

/**
 * Opens a backup. A stream or a pipe is first copied to a file in the folder for temporary files, which has no name and ends
 * with the process. Throws a sentence if it can't be read.
 */
export async function openBackup(file: string | Readable): Promise<OpenBackup> {
  const handle = typeof file === 'string' ? await openFile(file) : await spool(file);
  const { size } = await handle.stat();
  return {
    read: (progress = () => {}) =>
      Readable.from(
        chunks(handle, (bytes) => progress(bytes, size)),
        { objectMode: false },
      ),
    close: () => handle.close(),
  };
}

// Not the handle's own stream, which closes the file when it is destroyed.
async function* chunks(handle: FileHandle, progress: (bytes: number) => void): AsyncGenerator<Buffer> {
  for (let at = 0; ; ) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
    progress(at);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path).catch((error: unknown) => {
    throw new Error(`${path} can't be read (${codeOf(error)}): name a backup file.`, { cause: error });
  });
  let isKept = false;
  try {
    const found = await handle.stat();
    isKept = found.isFile();
    if (isKept) return handle;
    if (found.isDirectory()) throw new Error(`${path} is a folder: name a backup file.`);
    return await spool(handle.createReadStream({ autoClose: false })); // such as <(age --decrypt …)
  } finally {
    if (!isKept) await handle.close();
  }
}

async function spool(input: Readable): Promise<FileHandle> {
  let handle: FileHandle | null = null;
  try {
    handle = await openNameless();
    await handle.writeFile(compressed(input));
    return handle;
  } catch (error) {
    input.destroy();
    await handle?.close();
    if (error instanceof IncompleteBackup) throw error;
    throw new Error(
      `The backup can't be copied to ${tmpdir()} (${codeOf(error)}): free up space, or set TMPDIR to another folder.`,
      { cause: error },
    );
  }
}

/** Ends at the first bytes of what is no backup, such as an endless device: it would fill the disk. */
async function* compressed(input: Readable): AsyncGenerator<Buffer> {
  let start: Buffer | null = Buffer.alloc(0);
  for await (const read of input as AsyncIterable<Buffer | string>) {
    const chunk = typeof read === 'string' ? Buffer.from(read) : read;
    if (start) {
      start = Buffer.concat([start, chunk.subarray(0, GZIP.length)]);
      if (start.length >= GZIP.length) {
        if (!start.subarray(0, GZIP.length).equals(GZIP))
          throw new IncompleteBackup('it is cut off or altered');
        start = null;
      }
    }
    yield chunk;
  }
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'dbvitals-restore-'));
  return open(join(folder, 'backup'), 'wx+', 0o600).finally(() => rm(folder, { recursive: true }));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
