import { UsageError } from './command.ts';

/** Where a monitored database is and who logs in, as a connection URL names it. */
export interface DatabaseAddress {
  connection_type: 'direct' | 'unix_socket';
  /** The folder of the socket for `unix_socket`; several hosts as `one:5432,two:5433`. */
  host: string;
  /** Of the first host. */
  port: number;
  database: string;
  username: string;
  /** null = none in the URL. */
  password: string | null;
}

// Scheme, user, password, hosts with their ports, database, parameters.
const URL_FORM =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^:@/?#]*))?@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
// An IPv6 address stands in brackets.
const HOST_FORM = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*))(?::([0-9]+))?$/;

/**
 * Reads `postgres://user:password@host:port/database`, of several servers `…@one:5432,two:5433/…`; a socket's folder
 * stands as `%2Ffolder` for the host or as `?host=/folder`. Port 5432 and database `postgres` where not given. Throws a {@link UsageError} that shows
 * nothing of the URL: it may hold a password.
 */
export function parseConnectionUrl(text: string): DatabaseAddress {
  if (/^(mysql|mariadb):\/\//.test(text)) {
    throw new UsageError('This release watches PostgreSQL only: give a URL that begins with postgres://.');
  }
  const parts = URL_FORM.exec(text);
  if (!parts) throw wrong('special characters in the password are percent-encoded, such as %40 for @');
  const [, user = '', password = '', hosts = '', database = '', parameters = ''] = parts;
  const servers = hosts.split(',').map((part) => serverOf(part, parameters));
  const [first] = servers;
  if (!first) throw wrong('it names no host');
  const several = servers.length > 1;
  if (several && servers.some(({ host }) => host.startsWith('/')))
    throw wrong('of several hosts none is a socket');
  if (user === '') throw wrong('it names no user');
  return {
    connection_type: first.host.startsWith('/') ? 'unix_socket' : 'direct',
    host: several ? servers.map(written).join(',') : first.host,
    port: first.port,
    database: decode(database) || 'postgres',
    username: decode(user),
    password: decode(password) || null,
  };
}

function serverOf(part: string, parameters: string): { host: string; port: number } {
  const [whole, address6, name = '', port = '5432'] = HOST_FORM.exec(part) ?? [];
  if (whole === undefined) throw wrong('an IPv6 address stands in brackets, a port is a number');
  const named = address6 ?? decode(name);
  const host = parameters === '' ? named : socketFolder(parameters, named);
  if (!host.startsWith('/') && !address6 && !/^[0-9A-Za-z_.-]+$/.test(host)) throw wrong('it names no host');
  if (Number(port) < 1 || Number(port) > 65_535) throw wrong('its port is 1 to 65535');
  return { host, port: Number(port) };
}

function written({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function socketFolder(parameters: string, host: string): string {
  const folder = new URLSearchParams(parameters).get('host') ?? '';
  if (!/^host=[^&]*$/.test(parameters) || !folder.startsWith('/') || host !== '' || /\p{Cc}/u.test(folder)) {
    throw wrong('its only parameter is host=/folder of a Unix socket, and TLS is chosen with --tls');
  }
  return folder;
}

function decode(part: string): string {
  let text: string | undefined;
  try {
    text = decodeURIComponent(part);
  } catch {
    throw wrong('a % in it is written %25');
  }
  if (/\p{Cc}/u.test(text)) throw wrong('it holds a control character');
  return text;
}

function wrong(reason: string): UsageError {
  return new UsageError(`--url must look like postgres://user:password@host:5432/database (${reason}).`);
}
