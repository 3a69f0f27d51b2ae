import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The most connections of a process. Many systems allow 4,096 open files, and the process needs some for itself. */
const MOST_CONNECTIONS = 4_000;

/** The number of connections from which idle ones are closed sooner. */
const BUSY_CONNECTIONS = 500;

// How long a client may neither send nor read, in milliseconds. It is longer than the keep-alive timeout, which proxies rely
// on. In a busy process only sending counts, because clients may read their answers a few bytes at a time.
const QUIET_MS = 80_000;
const QUIET_WHEN_BUSY_MS = 8_000;

// How long a process counts as busy after it last had so many connections, in milliseconds, so that all idle ones are
// closed.
const BUSY_LASTS_MS = 2 * QUIET_WHEN_BUSY_MS;

const SWEEP_MS = 1_000;

/** The bytes read from and written to a connection, and when they last changed, on this process's monotonic clock in milliseconds. */
interface Heard {
  read: number;
  written: number;
  at: number;
}

/**
 * Closes connections that make no progress. Node's own timeouts end slow requests and idle connections, but not connections
 * whose client does not read the answer.
 */
export function limitConnections(server: Server, quietMs = QUIET_MS): void {
  const heard = new Map<Socket, Heard>();
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket) => {
    // Node counts only those of the first address.
    if (heard.size >= MOST_CONNECTIONS) return void socket.destroy();
    heard.set(socket, { read: 0, written: 0, at: performance.now() });
    socket.once('close', () => heard.delete(socket));
  });
  let busyUntil = 0;
  const sweep = () => {
    const now = performance.now();
    if (heard.size >= BUSY_CONNECTIONS) busyUntil = now + BUSY_LASTS_MS;
    const busy = now < busyUntil;
    const due = now - (busy ? QUIET_WHEN_BUSY_MS : quietMs);
    for (const [socket, last] of heard) {
      // Bytes in the buffers count as written. While the client does not read, the count does not grow.
      if (socket.bytesRead !== last.read || (!busy && socket.bytesWritten !== last.written)) {
        last.read = socket.bytesRead;
        last.written = socket.bytesWritten;
        last.at = now;
      } else if (last.at < due) {
        socket.resetAndDestroy(); // also frees the kernel's buffers: a gigabyte for a thousand connections
      }
    }
  };
  const timer = setInterval(sweep, SWEEP_MS).unref();
  server.once('close', () => clearInterval(timer));
}
