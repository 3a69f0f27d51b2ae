import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import ssh from 'ssh2';
import type { Target } from '../../src/monitor/session/session.ts';
import { makeSshKey } from '../support/ssh-key.ts';

/** A real SSH server. It accepts anyone and forwards every name to the server that is tested. */
export interface Bastion {
  /** A connection through it to `db.internal`. */
  tunnel: Partial<Target>;
  close(): void;
}

/** Starts a bastion before the port of a server on this machine. */
export async function startBastion(port: number): Promise<Bastion> {
  const clients = new Set<ssh.Connection>();
  const hostKeys = [makeSshKey().private];
  const daemon = new ssh.Server({ hostKeys }, (client) => {
    clients.add(client);
    client.on('error', () => {});
    client.on('authentication', (login) => login.accept());
    client.on('tcpip', (accept) => {
      const channel = accept();
      const behind = connect(port, '127.0.0.1');
      behind.on('error', () => {});
      channel.pipe(behind).pipe(channel);
    });
  });
  const front = createServer((socket) => daemon.injectSocket(socket)).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const login = { username: 'tunnel', privateKey: makeSshKey().private, agentSocket: null, hostKey: null };
  return {
    tunnel: {
      connectionType: 'ssh_tunnel',
      host: 'db.internal',
      tunnel: { host: '127.0.0.1', port: (front.address() as AddressInfo).port, ...login },
    },
    close() {
      for (const client of clients) client.end();
      front.close();
    },
  };
}
