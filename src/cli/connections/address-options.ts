import { type Command, Option } from 'commander';
import { type DatabaseAddress, parseConnectionUrl } from '../../connections/connection-url.ts';
import { CONNECTION_TYPES, type ConnectionType } from '../../vocabulary/connection-types.ts';
import { TLS_MODES, type TlsMode } from '../../vocabulary/tls-modes.ts';
import { durationOf, oneOf } from '../arguments.ts';
import { addSettingOptions, type SettingOptions } from '../connection-options.ts';
import { addSshOptions, type SshOptions } from '../ssh-login.ts';
import { UsageError } from '../usage-error.ts';

/** The options of `connection add` and `connection change`. */
export interface AddressOptions extends SettingOptions, SshOptions {
  name?: string;
  url?: DatabaseAddress;
  type?: ConnectionType;
  every?: number;
  tls?: TlsMode;
  passwordStdin?: boolean;
  tag?: readonly string[];
  untag?: readonly string[];
  json?: boolean;
}

/** Throws for a type that the URL and the tunnel do not have. */
export function requireType(
  address: DatabaseAddress,
  { type, ssh }: Pick<AddressOptions, 'type' | 'ssh'>,
): void {
  if (ssh && (address.connection_type === 'unix_socket' || (type !== undefined && type !== 'ssh_tunnel')))
    throw new UsageError('--ssh needs a URL with a host, and no --type other than ssh_tunnel.');
  if (type === 'ssh_tunnel') {
    if (!ssh) throw new UsageError('--type ssh_tunnel needs --ssh user@host.');
    return;
  }
  if (type !== undefined && type !== address.connection_type) {
    throw new UsageError(
      `The URL is of type ${address.connection_type}: leave out --type, or change the URL.`,
    );
  }
}

/** The options that `connection add` and `connection change` share. */
export function addAddressOptions(command: Command): Command {
  const types = `${CONNECTION_TYPES.join(', ')} (default: from the URL)`;
  return addSshOptions(addSettingOptions(command))
    .option('--type <T>', types, oneOf('--type', CONNECTION_TYPES))
    .option(
      '--tls <T>',
      `${TLS_MODES.join(', ')} (default: from the URL, or verify-full; no TLS on a Unix socket)`,
      oneOf('--tls', TLS_MODES),
    )
    .option('--password-stdin', 'read the password from standard input');
}

/** `--every`. */
export function everyOption(): Option {
  const every = new Option('--every <D>', 'time between health checks, 10s to 7d');
  return every.argParser(durationOf('--every', '10s', '7d'));
}

/** `--url`. */
export function urlOption(): Option {
  const forms =
    'postgres://user:password@host:5432/database, mysql:// or mariadb://user:password@host:3306, or pgbouncer://user:password@host:6432';
  return new Option('--url <URL>', forms).argParser(parseConnectionUrl);
}
