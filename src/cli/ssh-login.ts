import type { Command } from 'commander';
import { requirePrivateKey, type SshLogin } from '../connections/connection-tunnel.ts';
import { type OwnPlaces, readSecretFile } from './guarded-file.ts';
import { UsageError } from './usage-error.ts';

/** The options of a tunnel as parsed by commander. */
export interface SshOptions {
  ssh?: SshLogin;
  /** The path of the private key. */
  sshKeyFile?: string;
}

const FORM = /^([^@:\s]+)@(?:\[([0-9A-Fa-f:.]+)\]|([0-9A-Za-z_.-]+))(?::([0-9]+))?$/;

/** Adds `--ssh` and `--ssh-key-file`. */
export function addSshOptions(command: Command): Command {
  return command
    .option('--ssh <user@host[:port]>', 'connect to the database through this SSH server', sshLoginOf)
    .option('--ssh-key-file <FILE>', "private key for the SSH server (default: the SSH agent's keys)");
}

/** Parses `user@host` or `user@host:port`; the default port is 22. */
export function sshLoginOf(text: string): SshLogin {
  const [whole, username = '', address6, name = '', port = '22'] = FORM.exec(text) ?? [];
  if (whole === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new UsageError('--ssh must look like user@host or user@host:22.');
  return { username, host: address6 ?? name, port: Number(port) };
}

/** Reads a private key without a passphrase: checks run unattended. */
export function privateKeyOf(file: string, own: OwnPlaces): string {
  return requirePrivateKey(readSecretFile(file, own));
}
