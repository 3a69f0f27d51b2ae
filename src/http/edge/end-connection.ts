import type { Socket } from 'node:net';

// How long the client may still send after the last answer, in milliseconds. Closing at once would reset the connection
// and lose the answer.
const LINGER_MS = 1_000;

/** Closes a connection once the client has what was written to it. What it still sends is dropped. */
export function endConnection(socket: Socket): void {
  socket.removeAllListeners('data').resume();
  socket.end();
  const lingering = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(lingering));
}
