import type { Server } from 'node:http';

/** Says where the server listens, as the service does. */
export function tellPort(server: Server): void {
  const address = server.address();
  if (typeof address === 'object') process.stdout.write(`ready on http://127.0.0.1:${address?.port}\n`);
}
