import { createRequire } from 'node:module';
import type pg from 'pg';
import { invalidParameter } from '../platform/rejection.ts';

const require = createRequire(import.meta.url);

/** The user, host and port of a bastion. */
export interface SshLogin {
  username: string;
  host: string;
  port: number;
}

/** The tunnel of a connection; absent fields keep their values. */
export interface Tunnelled {
  ssh?: SshLogin;
  /** The text of the private key. */
  sshKey?: string;
}

/** Checks that the text is a private key without a passphrase: checks run unattended. */
export function requirePrivateKey(text: string): string {
  const ssh: typeof import('ssh2') = require('ssh2'); // loaded only for tunnels, because it takes 28 ms
  const key = ssh.utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey())
    throw invalidParameter('ssh', 'The SSH key must be a private key without a passphrase.');
  return text;
}

const storeLogin = `
  update connection
     set connection_type = 'ssh_tunnel', ssh_username = $3, ssh_host = $4, ssh_port = $5, ssh_host_key = null
   where account_id = $1 and connection_id = $2`;

/** Stores a connection's tunnel. A new bastion's host key is forgotten and learned again. */
export async function storeTunnel(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  { ssh: login }: Tunnelled,
): Promise<void> {
  if (!login) return;
  await client.query(storeLogin, [accountId, connectionId, login.username, login.host, login.port]);
}

/** Throws when a private key is given without a tunnel. */
export function requireTunnel(tunnelled: boolean, { sshKey }: Tunnelled): void {
  if (sshKey === undefined || tunnelled) return;
  throw invalidParameter('ssh', 'A private key needs an SSH server: give both.');
}
