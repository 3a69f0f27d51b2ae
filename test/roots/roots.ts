import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Debian's distribution to the packages of its root folder. */
const PACKAGES = {
  sid: ['mysql-server'],
  trixie: ['mariadb-server', 'galera-4', 'postgresql-17', 'pgbouncer'],
} as const;

/** A root folder: a Debian whose servers the tests start beside this machine's own. */
export type Root = keyof typeof PACKAGES;

/** Holds the root folders: `DBVITALS_TEST_ROOTS`, by default a folder that outlives a restart of the machine. */
export const ROOTS = process.env['DBVITALS_TEST_ROOTS'] ?? '/var/tmp/dbvitals-roots';

const run = promisify(execFile);

const options = { maxBuffer: 1e8, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };

/**
 * Makes the root folders that are missing, completely or not at all, and installs the packages that a folder lacks. Requires
 * root and `debootstrap`.
 */
export async function makeRoots(): Promise<void> {
  mkdirSync(ROOTS, { recursive: true, mode: 0o755 });
  const made = await Promise.allSettled((Object.keys(PACKAGES) as Root[]).map(makeRoot));
  for (const each of made) if (each.status === 'rejected') throw each.reason;
}

async function makeRoot(name: Root): Promise<void> {
  const folder = join(ROOTS, name);
  if (existsSync(folder)) return install(folder, PACKAGES[name]);
  const fresh = `${folder}.new-${process.pid}`;
  try {
    await run('debootstrap', ['--variant=minbase', name, fresh], options);
    // Installing a package must start no server.
    writeFileSync(join(fresh, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    await install(fresh, PACKAGES[name]);
    renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function install(folder: string, packages: readonly string[]): Promise<void> {
  const lacking = packages.filter((name) => !existsSync(join(folder, `var/lib/dpkg/info/${name}.list`)));
  if (lacking.length === 0) return;
  const inside = (...command: string[]) => run('chroot', [folder, ...command], options);
  // A mirror may be older than its list's ten days: its signature still counts.
  await inside('apt-get', 'update', '--quiet', '--option', 'Acquire::Check-Valid-Until=false');
  await inside('apt-get', 'install', '--quiet', '--yes', '--no-install-recommends', ...lacking);
  await inside('apt-get', 'clean');
}
