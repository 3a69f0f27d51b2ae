import { spawnSync } from 'node:child_process';
import { createHash, type Hash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inPackage, version } from '../platform/package-root.ts';

/** Written into the package when it is made, by `write-build-version.ts`. */
export const BUILD_FILE = 'dist/VERSION';

// What the program is made of, where no commit says it.
const SOURCES = ['package.json', 'package-lock.json', 'src', 'console/src', 'migrations'];

let known: string | undefined;

/**
 * The version with its build: `0.1.0+3f2a9c81d0b4`, the commit. Changes that are not committed add a digest of the changed files
 * (`0.1.0+3f2a9c81d0b4.5d1f0c9a`), and without a repository there is only a digest of the sources (`0.1.0+src.5d1f0c9a77e0`). So two
 * builds that differ have different names.
 */
export function buildVersion(): string {
  known ??= readBuildFile() ?? describeCheckout(fileURLToPath(inPackage('./')), version);
  return known;
}

function readBuildFile(): string | null {
  // A checkout may hold the dist/ of an earlier build, which it does not run.
  if (import.meta.filename.endsWith('.ts')) return null;
  return readFileSync(inPackage(BUILD_FILE), 'utf8').trim();
}

/** The build of a checkout, or of a folder of sources, as it is now. */
export function describeCheckout(folder: string, release: string): string {
  const root = realpathSync(folder);
  const status = readStatus(root);
  if (!status) return `${release}+src.${digest(root, SOURCES).slice(0, 12)}`;
  const { commit, changed } = status;
  const suffix = changed.length === 0 ? '' : `.${digest(root, changed).slice(0, 8)}`;
  return `${release}+${commit.slice(0, 12)}${suffix}`;
}

/** The commit of a checkout and the files that differ from it; null if the folder is not one, or git can't read it. */
function readStatus(root: string): { commit: string; changed: string[] } | null {
  if (!existsSync(join(root, '.git'))) return null; // the sources may lie within another repository
  const args = ['status', '--porcelain=v2', '--branch', '--untracked-files=all', '--no-renames', '-z'];
  const { status, stdout } = spawnSync('git', ['--no-optional-locks', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
  const lines = status === 0 ? stdout.split('\0') : [];
  const [, commit] = /^# branch\.oid ([0-9a-f]{40,64})$/.exec(lines[0] ?? '') ?? [];
  if (commit === undefined) return null;
  // `1 XY sub mH mI mW hH hI path`, `u …` with eleven fields, `? path`.
  const changed = lines.flatMap((line) => /^(?:1 (?:\S+ ){7}|u (?:\S+ ){9}|\? )(.*)$/s.exec(line)?.[1] ?? []);
  return { commit, changed: changed.toSorted() };
}

function digest(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) add(hash, root, path);
  return hash.digest('hex');
}

function add(hash: Hash, root: string, path: string): void {
  const place = join(root, path);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  hash.update(`${path}\0${stats ? stats.mode & 0o111 : 'removed'}\0`);
  if (stats?.isDirectory())
    for (const name of readdirSync(place).toSorted()) add(hash, root, join(path, name));
  else if (stats?.isSymbolicLink()) hash.update(readlinkSync(place));
  else if (stats?.isFile()) hash.update(readFileSync(place));
}
