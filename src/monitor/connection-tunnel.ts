import { createRequire } from 'node:module';
import type pg from 'pg';
import { RefusedConnection } from './connection-refusal.ts';
import type { CredentialOwner } from './credentials.ts';

const require = createRequire(import.meta.url);

/** Seals a secret of a connection, in the transaction that stores the result. */
export type Seal = (client: pg.ClientBase, owner: CredentialOwner, secret: string) => Promise<Buffer>;

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
    throw new RefusedConnection('ssh', 'The SSH key must be a private key that has no passphrase.');
  return text;
}

const storeLogin = `
  update connection
     set connection_type = 'ssh_tunnel', ssh_username = $3, ssh_host = $4, ssh_port = $5, ssh_host_key = null
   where account_id = $1 and connection_id = $2`;

const storeKey = `
  update connection set ssh_credential = $3
   where account_id = $1 and connection_id = $2 and connection_type = 'ssh_tunnel'`;

/** Puts a tunnel before a connection, or another key to the one that it has; a new bastion is to be known anew. */
export async function storeTunnel(
  client: pg.ClientBase,
  seal: Seal,
  owner: { accountId: number; connectionId: number },
  { ssh: login, sshKey: key }: Tunnelled,
): Promise<void> {
  const ids = [owner.accountId, owner.connectionId];
  if (login) await client.query(storeLogin, [...ids, login.username, login.host, login.port]);
  if (key === undefined) return;
  const sealed = await seal(client, { ...owner, of: 'ssh key' }, key);
  const { rowCount } = await client.query(storeKey, [...ids, sealed]);
  if (rowCount === 0) throw new RefusedConnection('ssh', 'A private key goes with an SSH server: give both.');
}
