import { closeSync, constants, fstatSync, openSync, realpathSync, type Stats } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { readTextFile, textInQuotes } from '../config/text-file.ts';
import { UsageError } from './usage-error.ts';

/** The locations of the service's own secrets. No command may read them for another purpose. */
export interface OwnPlaces {
  environment: Readonly<Record<string, string | undefined>>;
  dataDir: string;
}

// The settings that name files. SSL_CERT_FILE and the like are not settings of dbvitals.
const OWN_SETTING = /^(?:DBVITALS_\w+|DATABASE_URL|TLS_CERT|TLS_KEY)_FILE$/;
const LARGEST_SECRET = 64 * 1024;
const LARGEST_PUBLIC = 1024 * 1024;

/**
 * Reads a file without secrets, such as certificates. Throws a {@link UsageError} with the path when the file can't be
 * read, is not a regular file, is over 1 MiB, or belongs to the service itself.
 */
export function readPublicFile(path: string, own: OwnPlaces): string {
  return readFile(path, own, LARGEST_PUBLIC, () => null);
}

/**
 * Reads a file with a secret; with `folder` only a file inside it. Throws as {@link readPublicFile} does, and also when
 * other users can read the file, it has a second name (hard link), is over `largest` bytes (default: 64 KiB), or its text is in quotes.
 */
export function readSecretFile(
  path: string,
  own: OwnPlaces,
  folder?: string,
  largest = LARGEST_SECRET,
): string {
  const text = readFile(path, own, largest, (real, stats) => {
    if (folder !== undefined && !isWithin(real, realOf(folder)))
      return 'is outside the folder of --secrets-dir: move it there';
    if (isShared(stats)) return 'can be read by other users: run chmod 600 on it';
    if (stats.nlink > 1) return 'is a hard link: copy it instead';
    return null;
  });
  if (textInQuotes(text.trim()) !== null)
    throw new UsageError(`The text in the file ${path} is in quotes: remove them.`);
  return text;
}

function readFile(
  path: string,
  own: OwnPlaces,
  largest: number,
  problemOf: (real: string, stats: Stats) => string | null,
): string {
  const real = realOf(path);
  const refuse = (problem: string) => new UsageError(`The file ${path} ${problem}.`);
  const owner = ownerOf(real, own);
  if (owner) throw refuse(`${owner}: it can't be used for a connection`);
  const descriptor = attempt(path, () =>
    // Rejects a link that has replaced the file in the meantime, and does not block on a pipe.
    openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) throw refuse('is not a regular file: use a regular file');
    if (stats.size > largest) throw refuse(`is over ${largest / 1024} KiB: name another`);
    const problem = problemOf(real, stats);
    if (problem) throw refuse(problem);
    return attempt(path, () => readTextFile(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/** A description of the file if it belongs to the service itself, else null. */
function ownerOf(real: string, { environment, dataDir }: OwnPlaces): string | null {
  if (isWithin(real, realIfAny(dataDir))) return 'is in the data folder of dbvitals';
  if (real === realIfAny('.env')) return 'contains settings of dbvitals';
  const names = Object.keys(environment).filter((name) => OWN_SETTING.test(name));
  const name = names.find((one) => real === realIfAny(environment[one]?.trim() || null));
  return name === undefined ? null : `is the file of ${name}`;
}

// Kubernetes mounts a pod's secrets as root with mode 0440, readable by the fsGroup.
function isShared({ mode, uid }: Stats): boolean {
  const group = uid === 0 && process.getuid?.() !== 0 ? 0o040 : 0;
  return (mode & 0o077 & ~group) !== 0;
}

function isWithin(real: string, folder: string | null): boolean {
  return folder !== null && (real === folder || real.startsWith(join(folder, sep)));
}

function realOf(path: string): string {
  return attempt(path, () => realpathSync(path));
}

function realIfAny(path: string | null): string | null {
  try {
    return path === null ? null : realpathSync(resolve(path));
  } catch {
    return null;
  }
}

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new UsageError(`The file ${path} cannot be read${code}: use a file that this user can read.`);
  }
}
