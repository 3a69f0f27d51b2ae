import type { Config } from './config.ts';

/** Where a service that listens on `port` is reached, such as `https://[::1]:8080/dbvitals`. */
export function urlOf(
  { host, tlsFiles, basePath }: Pick<Config, 'host' | 'tlsFiles' | 'basePath'>,
  port: number,
): string {
  return `${tlsFiles ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}${basePath}`;
}

/** Where browsers reach such a service: below `DBVITALS_PUBLIC_URL`, if that is told, else where it listens. */
export function entranceOf(
  config: Pick<Config, 'host' | 'tlsFiles' | 'basePath' | 'publicUrl'>,
  port: number,
): string {
  return config.publicUrl === null ? urlOf(config, port) : `${config.publicUrl}${config.basePath}`;
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
