import { createRequire } from 'node:module';
import type pg from 'pg';
import { ConnectionRejected } from './connection-rejected.ts';

const require = createRequire(import.meta.url);

/** Who logs in at a bastion, and where it is. */
export interface SshLogin {
  username: string;
  host: string;
  port: number;
}

/** The tunnel of a connection; what is absent stays. */
export interface Tunnelled {
  ssh?: SshLogin;
  /** The private key's text. */
  sshKey?: string;
}

/** A private key that needs no passphrase: nobody is there to type it when a check is due. */
export function requirePrivateKey(text: string): string {
  const ssh: typeof import('ssh2') = require('ssh2'); // 28 ms that a command without a tunnel does not pay
  const key = ssh.utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey())
    throw new ConnectionRejected('ssh', 'The SSH key must be a private key that has no passphrase.');
  return text;
}

const storeLogin = `
  update connection
     set connection_type = 'ssh_tunnel', ssh_username = $3, ssh_host = $4, ssh_port = $5, ssh_host_key = null
   where account_id = $1 and connection_id = $2`;

/** Puts a tunnel before a connection; a new bastion is to be known anew. */
export async function storeTunnel(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  { ssh: login }: Tunnelled,
): Promise<void> {
  if (!login) return;
  await client.query(storeLogin, [accountId, connectionId, login.username, login.host, login.port]);
}

/** Throws where a private key is given without a tunnel. */
export function requireTunnel(tunnelled: boolean, { sshKey }: Tunnelled): void {
  if (sshKey === undefined || tunnelled) return;
  throw new ConnectionRejected('ssh', 'A private key goes with an SSH server: give both.');
}
