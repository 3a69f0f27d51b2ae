import type { Server } from 'node:http';

/** Prints the server's address in the service's format. */
export function tellPort(server: Server): void {
  const address = server.address();
  if (typeof address === 'object') process.stdout.write(`ready on http://127.0.0.1:${address?.port}\n`);
}
