import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that a process holds at most: room for its other files in the 4,096 that many systems give it. */
const MOST_CONNECTIONS = 4_000;

/** So many are a crowd. */
const CROWD = 500;

// For how long nothing may come from a client or be taken by it, in milliseconds: longer than a connection is kept for its
// next request, which proxies rely on. In a crowd that waits, or takes its answers a few bytes at a time, what is taken
// does not count.
const QUIET_MS = 80_000;
const QUIET_IN_CROWD_MS = 8_000;

// It lasts for as long, in milliseconds, after the last time that there were so many: those that came together go together.
const CROWD_LASTS_MS = 2 * QUIET_IN_CROWD_MS;

const SWEEP_MS = 1_000;

/** What had come from a connection and gone to it, and since when nothing more, on this process's monotonic clock in milliseconds. */
interface Heard {
  read: number;
  written: number;
  at: number;
}

/**
 * Lets connections go that only take up room. Node's own timeouts end a request that comes too slowly, and a connection
 * that waits for its next one; none of them ends one whose answer is not taken.
 */
export function keepFromCrowding(server: Server, quietMs = QUIET_MS): void {
  const heard = new Map<Socket, Heard>();
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket) => {
    heard.set(socket, { read: 0, written: 0, at: performance.now() });
    socket.once('close', () => heard.delete(socket));
  });
  let crowdedUntil = 0;
  const sweep = () => {
    const now = performance.now();
    if (heard.size >= CROWD) crowdedUntil = now + CROWD_LASTS_MS;
    const crowded = now < crowdedUntil;
    const due = now - (crowded ? QUIET_IN_CROWD_MS : quietMs);
    for (const [socket, last] of heard) {
      // What waits to be taken is counted as written, but no more of it is when it is not taken.
      if (socket.bytesRead !== last.read || (!crowded && socket.bytesWritten !== last.written)) {
        last.read = socket.bytesRead;
        last.written = socket.bytesWritten;
        last.at = now;
      } else if (last.at < due) {
        socket.resetAndDestroy(); // what the kernel still holds for it goes too: a gigabyte for a thousand of them
      }
    }
  };
  const timer = setInterval(sweep, SWEEP_MS).unref();
  server.once('close', () => clearInterval(timer));
}
