import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The system user that PostgreSQL runs as if dbvitals runs as root. PostgreSQL refuses to run as root. */
const USER = 'dbvitals';

/** Where folders are mounted that this user can't enter. */
const MOUNTS = '/run/dbvitals';

/** Owner of the server's files. */
export interface ServerUser {
  uid: number;
  gid: number;
}

/** The system user `dbvitals` if dbvitals runs as root, created if it does not exist; else null. */
export function serverUser(): ServerUser | null {
  if (process.getuid?.() !== 0) return null;
  const found = lookUp() ?? create();
  if (found) return found;
  throw new Error(
    `PostgreSQL can't run as root, and the system user ${USER} could not be created: run dbvitals as another user.`,
  );
}

function lookUp(): ServerUser | null {
  const ask = (flag: string) => spawnSync('id', [flag, USER], { encoding: 'utf8' });
  const [uid, gid] = [ask('-u'), ask('-g')];
  return uid.status === 0 && gid.status === 0 ? { uid: Number(uid.stdout), gid: Number(gid.stdout) } : null;
}

function create(): ServerUser | null {
  // Distributions such as Debian and Red Hat have useradd; Alpine has BusyBox's adduser.
  const made = spawnSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', USER]);
  if (made.status !== 0) spawnSync('adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', USER]);
  return lookUp();
}

// $1 the folder to mount under, $2 and $3 the folders to mount, $4 and $5 uid and gid, then program and arguments.
const enterFolders = `
  mount --bind "$2" "$1/a" && mount --bind "$3" "$1/b" || exit 126
  uid=$4 gid=$5; shift 5
  exec setpriv --reuid "$uid" --regid "$gid" --clear-groups -- "$@"`;

/**
 * Starts one of PostgreSQL's programs as the server's user. `programs` is the folder of the installation, `data` the folder
 * it works in; `command` gets both paths as the program sees them. If that user can't enter them (a checkout below /root, or
 * in a folder from mktemp), they are mounted elsewhere, for this process only.
 */
export function spawnAsServer(
  user: ServerUser | null,
  folders: { programs: string; data: string },
  command: (folders: { programs: string; data: string }) => { program: string; args: string[] },
  options: SpawnOptions,
): ChildProcess {
  const plain = command(folders);
  if (!user) return spawn(plain.program, plain.args, options);
  if (reaches(user, folders.programs) && reaches(user, folders.data)) {
    return spawn(plain.program, plain.args, { cwd: '/', ...options, ...user });
  }
  openPrograms(folders.programs);
  const name = createHash('sha256').update(dirname(folders.data)).digest('hex').slice(0, 16);
  const under = join(MOUNTS, name);
  for (const folder of [MOUNTS, under, join(under, 'a'), join(under, 'b')]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o711); // whatever the umask
  }
  const mounted = command({ programs: join(under, 'a'), data: join(under, 'b') });
  return spawn(
    'unshare',
    [
      '--mount',
      '--',
      'sh',
      '-c',
      enterFolders,
      'sh',
      under,
      folders.programs,
      folders.data,
      String(user.uid),
      String(user.gid),
      mounted.program,
      ...mounted.args,
    ],
    { cwd: '/', ...options },
  );
}

/** Lets everybody read PostgreSQL's programs, which npm closed if root installed dbvitals with a umask such as 077. */
function openPrograms(programs: string): void {
  if ((statSync(programs).mode & 0o005) === 0o005) return;
  spawnSync('chmod', ['-R', 'go+rX', programs]); // where it can't, PostgreSQL says what it can't read
}

function reaches(user: ServerUser, folder: string): boolean {
  const entered = spawnSync('sh', ['-c', 'cd "$1" && ls . >/dev/null', 'sh', folder], { cwd: '/', ...user });
  return entered.status === 0;
}
