import type { Socket } from 'node:net';

/**
 * Takes over reading from a socket of Node's HTTP server: `receive` gets its bytes, and the function that is returned passes
 * bytes to Node's parser. Call it after Node's own listener of the connection.
 *
 * Why: Node parses in a listener of `data` that is not documented, up to 64 KiB or thousands of pipelined requests, before any
 * other connection gets a turn. No option limits that. Null if there is no such listener: for the encrypted bytes of a TLS
 * connection, or if Node parses in another way one day. Then Node reads by itself, and only the turns are lost.
 */
export function takeParser(
  socket: Socket,
  receive: (bytes: Buffer) => void,
): ((bytes: Buffer) => void) | null {
  const [parse] = socket.listeners('data');
  if (parse === undefined) return null;
  socket.removeAllListeners('data').on('data', receive);
  return (bytes) => parse(bytes);
}
