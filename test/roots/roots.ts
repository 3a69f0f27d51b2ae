import { execFile } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Debian's distribution to the packages of its root folder. */
const PACKAGES = {
  sid: ['mysql-server'],
  trixie: ['mariadb-server', 'galera-4', 'postgresql-17', 'pgbouncer'],
} as const;

/** A root folder: files of a Debian whose servers the tests start beside this machine's own. */
export type Root = keyof typeof PACKAGES;

/** Holds the root folders: `DBVITALS_TEST_ROOTS`, by default a folder that outlives a restart of the machine. */
export const ROOTS = process.env['DBVITALS_TEST_ROOTS'] ?? '/var/tmp/dbvitals-roots';

const MIRROR = 'http://deb.debian.org/debian';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

const run = promisify(execFile);

/** Makes the root folders that are missing or lack packages, completely or not at all. Requires root and Debian's `apt-get`. */
export async function makeRoots(names = Object.keys(PACKAGES) as Root[]): Promise<void> {
  mkdirSync(ROOTS, { recursive: true, mode: 0o755 });
  const attempts = await Promise.allSettled(names.map(makeRoot));
  for (const attempt of attempts) if (attempt.status === 'rejected') throw attempt.reason;
}

/**
 * Unpacks the packages and all that they depend on. None is installed: a program of theirs runs with the libraries beside it,
 * and needs neither `chroot` nor what their scripts set up.
 */
async function makeRoot(name: Root): Promise<void> {
  const folder = join(ROOTS, name);
  const content = `${PACKAGES[name].join('\n')}\n`;
  const list = (above: string) => join(above, 'dbvitals-packages');
  if (existsSync(list(folder)) && readFileSync(list(folder), 'utf8') === content) return;
  const fresh = `${folder}.new-${process.pid}`;
  const archives = `${fresh}.archives`;
  try {
    for (const file of await download(name, archives)) await run('dpkg-deb', ['--extract', file, fresh]);
    writeFileSync(list(fresh), content);
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
  } finally {
    for (const each of [fresh, archives]) rmSync(each, { recursive: true, force: true });
  }
}

/** Downloads the packages of a root folder and their dependencies, as to a machine that has none. The result is the files. */
async function download(name: Root, folder: string): Promise<string[]> {
  for (const part of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, part), { recursive: true });
  const place = (file: string, text: string) => {
    writeFileSync(join(folder, file), text);
    return join(folder, file);
  };
  const settings = [
    `Dir::Etc::SourceList=${place('sources.list', `deb [signed-by=${KEYRING}] ${MIRROR} ${name} main\n`)}`,
    'Dir::Etc::SourceParts=/dev/null',
    'Dir::Etc::Preferences=/dev/null',
    'Dir::Etc::PreferencesParts=/dev/null',
    `Dir::State=${join(folder, 'state')}`,
    `Dir::State::Status=${place('status', '')}`,
    `Dir::Cache=${join(folder, 'cache')}`,
    'APT::Sandbox::User=root',
    'APT::Architecture=amd64',
    'Acquire::Languages=none',
    // A mirror may be older than its list's ten days: its signature still counts.
    'Acquire::Check-Valid-Until=false',
  ].flatMap((setting) => ['--option', setting]);
  const apt = (...args: string[]) => run('apt-get', [...settings, '--quiet', ...args], { maxBuffer: 1e8 });
  await apt('update');
  await apt('install', '--yes', '--download-only', '--no-install-recommends', ...PACKAGES[name]);
  return globSync(join(folder, 'cache/archives/*.deb'));
}
