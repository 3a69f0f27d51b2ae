import { once } from 'node:events';
import { createServer } from 'node:net';

/** The settings of an address, as messages name them. */
interface ListenSettings {
  port: string;
  host: string;
}

/** Of the API and the console. */
const SERVICE: ListenSettings = { port: '--port or PORT', host: 'HOST' };

/** Of the metrics. */
export const METRICS: ListenSettings = { port: 'METRICS_PORT', host: 'METRICS_HOST' };

/** Throws a sentence if another program listens on the port, before anything is started that would have to be stopped again. */
export async function requireFreePort(host: string, port: number, settings = SERVICE): Promise<void> {
  if (port === 0) return;
  const probe = createServer();
  await listen(
    async () => {
      probe.listen({ host, port, exclusive: true });
      await once(probe, 'listening');
    },
    port,
    settings,
  );
  probe.close();
  await once(probe, 'close');
}

/** Returns what `open` opens on `port`. If the port can't be used, throws a sentence that says what to do. */
export async function listen<T>(open: () => Promise<T>, port: number, settings = SERVICE): Promise<T> {
  try {
    return await open();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} is already in use: choose another one with ${settings.port}.`);
    }
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(
        `${settings.host} is not an address of this machine: use 127.0.0.1, or 0.0.0.0 for all addresses.`,
      );
    }
    if (code === 'EACCES') throw new Error(`Port ${port} needs root privileges: choose a port from 1024 on.`);
    throw error;
  }
}
