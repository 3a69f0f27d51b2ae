/** The origin of what listens there, such as `http://[::1]:8080`. */
export function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** What `open` opens on `port`; throws a sentence that says what to do where that can't be had. */
export async function listen<T>(open: () => Promise<T>, port: number): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} is taken by another program: choose another one with --port or PORT.`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error('HOST is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all of them.');
    }
    if (code === 'EACCES') throw new Error(`Port ${port} needs privileges: choose one from 1024 on.`);
    if (code === 'ENOTSUP') {
      throw new Error('This system lets no two processes share a port: start without --processes.');
    }
    throw error;
  }
}
