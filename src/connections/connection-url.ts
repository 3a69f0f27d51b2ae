import type { ConnectionType } from '../vocabulary/connection-types.ts';
import { type Engine, engineOfScheme } from '../vocabulary/engines.ts';
import { ConnectionRejected } from './connection-rejected.ts';

/** Where a monitored database is and who logs in, as a connection URL names it. */
export interface DatabaseAddress {
  engine: Engine;
  connection_type: Exclude<ConnectionType, 'ssh_tunnel'>;
  /** For `unix_socket` the folder of the socket, of MySQL its file; several hosts as `one:5432,two:5433`. */
  host: string;
  /** Of the first host. */
  port: number;
  /** Empty where a MySQL or MariaDB login goes to none: one session sees them all. */
  database: string;
  username: string;
  /** null = none in the URL. */
  password: string | null;
}

/** A check tries one after the other, and must not take its place from others for long. */
const MOST_HOSTS = 4;

// Scheme, user, password, hosts with their ports, database, parameters.
const URL_FORM =
  /^(postgres(?:ql)?|mysql|mariadb):\/\/(?:([^:@/?#]*)(?::([^:@/?#]*))?@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
// An IPv6 address stands in brackets.
const HOST_FORM = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]*))(?::([0-9]+))?$/;

const POSTGRES = { port: '5432', database: 'postgres', socket: 'folder', parameters: ['host'] };
// What clients of MySQL call the parameter, and what PostgreSQL's do.
const MYSQL = { port: '3306', database: '', socket: 'file', parameters: ['socket', 'host'] };
type Scheme = typeof POSTGRES;

/**
 * Reads `postgres://user:password@host:port/database`, of several servers `…@one:5432,two:5433/…`; a socket's folder
 * stands as `%2Ffolder` for the host or as `?host=/folder`. Port 5432 and database `postgres` where not given.
 * `mysql://` and `mariadb://` likewise: port 3306, no database, and the socket is a file, which `?socket=` names too.
 * Throws a {@link ConnectionRejected} that shows nothing of the URL: it may hold a password.
 */
export function parseConnectionUrl(text: string): DatabaseAddress {
  const parts = URL_FORM.exec(text);
  if (!parts) throw wrong('special characters in the password are percent-encoded, such as %40 for @');
  const [, name = '', user = '', password = '', hosts = '', database = '', parameters = ''] = parts;
  const engine = engineOfScheme(name);
  const scheme = engine === 'postgres' ? POSTGRES : MYSQL;
  const servers = hosts.split(',').map((part) => serverOf(part, parameters, scheme));
  const [first] = servers;
  if (!first) throw wrong('it names no host');
  const several = servers.length > 1;
  if (servers.length > MOST_HOSTS)
    throw new ConnectionRejected(
      'url',
      `A connection names at most ${MOST_HOSTS} hosts: leave out the others.`,
    );
  if (several && servers.some(({ host }) => host.startsWith('/')))
    throw wrong('of several hosts none is a socket');
  if (user === '') throw wrong('it names no user');
  return {
    engine,
    connection_type: first.host.startsWith('/') ? 'unix_socket' : 'direct',
    host: several ? servers.map(written).join(',') : first.host,
    port: first.port,
    database: decode(database) || scheme.database,
    username: decode(user),
    password: decode(password) || null,
  };
}

/**
 * The same from fields: `host` is a name or an address, several as `one:5432,two:5433`, or the path of a Unix socket. Throws a
 * {@link ConnectionRejected}.
 */
export function addressOf({
  engine,
  host,
  port,
  database = '',
  username,
}: {
  engine: DatabaseAddress['engine'];
  host: string;
  port?: number;
  database?: string;
  username: string;
}): DatabaseAddress {
  const socket = host.startsWith('/');
  if (!socket && /[@/?#%\s]/.test(host))
    throw new ConnectionRejected('host', 'The host is a name, an address, or the path of a socket.');
  const six = !socket && /^[0-9A-Fa-f:.]+$/.test(host) && host.split(':').length > 2;
  const server = socket ? encodeURIComponent(host) : six ? `[${host}]` : host;
  const several = !socket && !six && /[,:]/.test(host);
  const own = port === undefined || several ? '' : `:${port}`;
  const user = encodeURIComponent(username);
  return parseConnectionUrl(`${engine}://${user}@${server}${own}/${encodeURIComponent(database)}`);
}

function serverOf(part: string, parameters: string, scheme: Scheme): { host: string; port: number } {
  const [whole, address6, name = '', port = scheme.port] = HOST_FORM.exec(part) ?? [];
  if (whole === undefined) throw wrong('an IPv6 address stands in brackets, a port is a number');
  const named = address6 ?? decode(name);
  const host = parameters === '' ? named : socketOf(parameters, named, scheme);
  if (!host.startsWith('/') && !address6 && !/^[0-9A-Za-z_.-]+$/.test(host)) throw wrong('it names no host');
  if (Number(port) < 1 || Number(port) > 65_535) throw wrong('its port is 1 to 65535');
  return { host, port: Number(port) };
}

function written({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function socketOf(parameters: string, host: string, { parameters: names, socket }: Scheme): string {
  const [[name = '', path = ''] = [], ...others] = new URLSearchParams(parameters);
  const stray = others.length > 0 || !names.includes(name);
  if (stray || !path.startsWith('/') || host !== '' || /\p{Cc}/u.test(path)) {
    throw wrong(
      `its only parameter is ${names[0]}=/${socket} of a Unix socket, and TLS is chosen apart from it`,
    );
  }
  return path;
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

function wrong(reason: string): ConnectionRejected {
  return new ConnectionRejected(
    'url',
    `The URL must look like postgres://user:password@host:5432/database or mysql://user:password@host:3306 (${reason}).`,
  );
}
