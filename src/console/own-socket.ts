import { once } from 'node:events';
import { lstat, mkdtemp, readdir, rmdir, unlink } from 'node:fs/promises';
import { connect, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const FOLDER = 'dbvitals-socket-';
const SOCKET = 'console.sock';

/** A folder that is younger may be that of a service which only begins to listen, in milliseconds. */
const YOUNG_MS = 60_000;

/** Listens on a Unix socket that nobody but this user reaches, and gives its path. Those of services that were killed go. */
export async function listenApart(server: Server): Promise<string> {
  await removeLeft();
  const folder = await mkdtemp(join(tmpdir(), FOLDER)); // made with mode 0700
  const path = join(folder, SOCKET);
  await once(server.listen(path), 'listening');
  return path;
}

/** Removes the socket with its folder, and nothing that is there besides; what is gone is gone. */
export async function removeSocket(path: string): Promise<void> {
  await unlink(path).catch(() => {}); // a server that closes takes it along
  await rmdir(dirname(path)).catch(() => {});
}

async function removeLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(FOLDER)) continue;
    const folder = join(tmpdir(), name);
    const path = join(folder, SOCKET);
    const made = await lstat(folder).catch(() => null);
    const isOurs = made?.uid === process.getuid?.();
    const isOld = made !== null && Date.now() - made.mtimeMs > YOUNG_MS;
    if (isOurs && isOld && !(await isAnswered(path))) await removeSocket(path);
  }
}

/** Whether somebody listens there, too busy to take us in or not. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    }).once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}
