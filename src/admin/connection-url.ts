import { UsageError } from './command.ts';

/** Where a monitored database is and who logs in, as a connection URL names it. */
export interface DatabaseAddress {
  connection_type: 'direct' | 'unix_socket';
  /** The folder of the socket for `unix_socket`. */
  host: string;
  port: number;
  database: string;
  username: string;
  /** null = none in the URL. */
  password: string | null;
}

// Scheme, user, password, host (an IPv6 address in brackets), port, database, parameters.
const URL_FORM =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^:@/?#]*))?@)?(?:\[([0-9A-Fa-f:.]+)\]|([^:@/?#[\]]*))(?::([0-9]+))?(?:\/([^/?#]*))?(?:\?([^#]*))?$/;

/**
 * Reads `postgres://user:password@host:port/database`; a socket's folder stands as `%2Ffolder` for the host or as
 * `?host=/folder`. Port 5432 and database `postgres` where not given. Throws a {@link UsageError} that shows
 * nothing of the URL: it may hold a password.
 */
export function parseConnectionUrl(text: string): DatabaseAddress {
  if (/^(mysql|mariadb):\/\//.test(text)) {
    throw new UsageError('This release watches PostgreSQL only: give a URL that begins with postgres://.');
  }
  const parts = URL_FORM.exec(text);
  if (!parts) throw wrong('special characters in the password are percent-encoded, such as %40 for @');
  const [, user = '', password = '', address6, name = '', port = '5432', database = '', parameters = ''] =
    parts;
  const named = address6 ?? decode(name);
  const host = parameters === '' ? named : socketFolder(parameters, named);
  const socket = host.startsWith('/');
  if (!socket && !address6 && !/^[0-9A-Za-z_.-]+$/.test(host))
    throw wrong('it names no host, or more than one');
  if (Number(port) < 1 || Number(port) > 65_535) throw wrong('its port is 1 to 65535');
  if (user === '') throw wrong('it names no user');
  return {
    connection_type: socket ? 'unix_socket' : 'direct',
    host,
    port: Number(port),
    database: decode(database) || 'postgres',
    username: decode(user),
    password: decode(password) || null,
  };
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
