import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import ssh from 'ssh2';
import { makeSshKey } from './ssh-key.ts';

/** A real SSH server, which accepts the login `tunnel`. */
export interface Bastion {
  port: number;
  /** SHA-256 of its key in base64, as a connection pins it. */
  hostKey: string;
  /** The requested destinations, as `host:port`. */
  asked: string[];
  /** Ends the tunnels that are open. */
  drop(): void;
  close(): void;
}

/** Starts a bastion for the owner of this key. `reach` connects to a destination; null = it has no such host. */
export async function startBastion(
  user: { public: string },
  reach: (host: string) => Socket | null,
): Promise<Bastion> {
  const allowed = parsed(user.public);
  const own = makeSshKey();
  const asked: string[] = [];
  const clients = new Set<ssh.Connection>();
  const daemon = new ssh.Server({ hostKeys: [own.private] }, (client) => {
    clients.add(client);
    client.on('error', () => {});
    client.on('authentication', (login) => {
      const isKnown =
        login.method === 'publickey' &&
        login.username === 'tunnel' &&
        login.key.data.equals(allowed.getPublicSSH()) &&
        (!login.signature || allowed.verify(login.blob ?? Buffer.alloc(0), login.signature, login.hashAlgo));
      if (isKnown) login.accept();
      else login.reject(['publickey']);
    });
    client.on('tcpip', (accept, reject, { destIP, destPort }) => {
      asked.push(`${destIP}:${destPort}`);
      const behind = reach(destIP);
      if (!behind) return reject();
      behind.on('error', () => {});
      const channel = accept();
      channel.pipe(behind).pipe(channel);
    });
  });
  const front = createServer({ noDelay: true }, (socket) => daemon.injectSocket(socket));
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  const drop = () => {
    for (const client of clients) client.end();
    clients.clear();
  };
  return {
    port: (front.address() as AddressInfo).port,
    hostKey: createHash('sha256').update(parsed(own.public).getPublicSSH()).digest('base64'),
    asked,
    drop,
    close() {
      drop();
      front.close();
    },
  };
}

function parsed(key: string): ssh.ParsedKey {
  const read = ssh.utils.parseKey(key);
  if (read instanceof Error) throw read;
  return read;
}
