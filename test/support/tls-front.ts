import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

const file = (name: string) => join(import.meta.dirname, '../certificates', name);

/** The authority that signed the certificate of {@link startTlsFront}. */
export const AUTHORITY: string = file('authority.pem');

/** A PostgreSQL with TLS on `localhost`, before the one whose socket is in this folder. Returns its port; it ends with the process. */
export async function startTlsFront(folder: string): Promise<number> {
  const identity = { cert: readFileSync(file('server.pem')), key: readFileSync(file('server.key')) };
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, ...identity });
      const behind = connect(join(folder, '.s.PGSQL.5432'));
      for (const side of [socket, secure, behind]) side.on('error', () => {});
      secure.pipe(behind).pipe(secure);
    });
  }).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
