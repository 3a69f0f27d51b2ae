import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';

// Error codes of a file or its folder. A lost connection has other codes.
const OF_FILES = /^E(NOENT|NOTDIR|ACCES|PERM|ROFS|NOSPC|DQUOT|FBIG|IO|ISDIR|NAMETOOLONG)$/;
// What file systems without hard links answer.
const WITHOUT_LINKS = /^E(PERM|NOTSUP|OPNOTSUPP|NOSYS|MLINK|XDEV)$/;

/**
 * Runs `work` on a new file next to `path`, and gives it the name `path` once it is complete and on disk. If `work` fails, no
 * file is left. Unless `overwrite`, an existing file stays, also one that another process has just written.
 */
export async function inDraft<T>(
  path: string,
  overwrite: boolean,
  work: (draft: Writable) => Promise<T>,
): Promise<T> {
  // Random, because processes in containers that share a folder have the same number.
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      const result = await work(file.createWriteStream({ flush: true })).finally(() => file.close());
      await (overwrite ? rename(draft, path) : publish(draft, path));
      const folder = await open(dirname(path));
      await folder.sync().finally(() => folder.close()); // so that the name survives a power failure
      return result;
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST')
      throw new Error(`${path} exists already, and was not changed: give another name.`, { cause: error });
    if (!OF_FILES.test(code)) throw error;
    throw new Error(
      `The backup can't be written to ${path} (${code}): check the folder and its free space.`,
      { cause: error },
    );
  }
}

/** Renames a file; fails with EEXIST if the new name is taken. */
async function publish(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    if (!WITHOUT_LINKS.test(codeOf(error))) throw error;
    await (await open(path, 'wx', 0o600)).close();
    await rename(draft, path);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
