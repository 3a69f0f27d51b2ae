import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type pg from 'pg';
import ssh from 'ssh2';
import { type CommandContext, UsageError } from './command.ts';

/** Who logs in at a bastion, and where it is. */
export interface SshLogin {
  username: string;
  host: string;
  port: number;
}

/** The options of a tunnel, as commander gives them. */
export interface SshOptions {
  ssh?: SshLogin;
  /** The private key's text. */
  sshKeyFile?: string;
}

const FORM = /^([^@:\s]+)@(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z_.-]+))(?::([0-9]+))?$/;

/** Adds `--ssh` and `--ssh-key-file`. */
export function addSshOptions(command: Command): Command {
  return command
    .option('--ssh <user@host[:port]>', 'reach the database through this SSH server', sshLoginOf)
    .option('--ssh-key-file <FILE>', "private key for it (default: the agent's)", privateKeyOf);
}

/** Reads `user@host` or `user@host:port`; port 22 where not given. */
export function sshLoginOf(text: string): SshLogin {
  const [whole, username = '', address6, name = '', port = '22'] = FORM.exec(text) ?? [];
  if (whole === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new UsageError('--ssh must look like user@host or user@host:22.');
  return { username, host: address6 ?? name, port: Number(port) };
}

/** Reads a private key that needs no passphrase: nobody is there to type it when a check is due. */
export function privateKeyOf(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new UsageError('--ssh-key-file must name a file that can be read.');
  }
  const key = ssh.utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey())
    throw new UsageError('--ssh-key-file must hold a private key that has no passphrase.');
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
  { sealPassword }: Pick<CommandContext, 'sealPassword'>,
  owner: { accountId: number; connectionId: number },
  { ssh: login, sshKeyFile: key }: SshOptions,
): Promise<void> {
  const ids = [owner.accountId, owner.connectionId];
  if (login) await client.query(storeLogin, [...ids, login.username, login.host, login.port]);
  if (key === undefined) return;
  const sealed = await sealPassword(client, { ...owner, of: 'ssh key' }, key);
  const { rowCount } = await client.query(storeKey, [...ids, sealed]);
  if (rowCount === 0) throw new UsageError('--ssh-key-file goes with --ssh: give both.');
}
