import { foreignAddress, plainUrl } from '../platform/network/foreign-address.ts';
import { invalidParameter, type Rejection } from '../platform/rejection.ts';
import type { ConnectionType } from '../vocabulary/connection-types.ts';
import { type Engine, type EngineFamily, engineOfScheme, familyOf, traitsOf } from '../vocabulary/engines.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';

/** The address and login of a monitored database, as in a connection URL. */
export interface DatabaseAddress {
  engine: Engine;
  connection_type: Exclude<ConnectionType, 'ssh_tunnel'>;
  /** For `unix_socket` the folder of the socket, or its file for MySQL; several hosts as `one:5432,two:5433`. */
  host: string;
  /** The first host's port. */
  port: number;
  /** Empty for MySQL and MariaDB without a database: one session sees them all. */
  database: string;
  username: string;
  /** null = none in the URL. */
  password: string | null;
  /** The mode of its `sslmode` (MySQL: `ssl-mode`); absent without one. */
  tls?: TlsMode;
}

/** A check tries the hosts in turn, and must not delay other checks for long. */
const MOST_HOSTS = 4;

// Scheme, user, password, hosts with ports, database, parameters.
const URL_FORM =
  /^(postgres(?:ql)?|mysql|mariadb|pgbouncer):\/\/(?:([^:@/?#]*)(?::([^:@/?#]*))?@)?([^@/?#]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
// An IPv6 address needs brackets.
// Its zone, such as %25eth0, names a network of this machine. Most tools write it as %eth0.
const HOST_FORM = /^(?:\[([0-9A-Fa-f:.]+(?:%(?:25)?[\w.-]+)?)\]|([^:[\]]*))(?::([0-9]+))?$/;

/** What differs between the URLs of the engines: defaults, and the parameters as their own clients have them. */
interface Scheme {
  socket: string;
  /** MySQL also takes PostgreSQL's. */
  sockets: readonly string[];
  tls: string;
  modes: Readonly<Record<string, TlsMode>>;
}

const POSTGRES: Scheme = {
  socket: 'folder',
  sockets: ['host'],
  tls: 'sslmode',
  modes: { disable: 'disable', require: 'require', 'verify-ca': 'verify-ca', 'verify-full': 'verify-full' },
};
const MYSQL: Scheme = {
  socket: 'file',
  sockets: ['socket', 'host'],
  tls: 'ssl-mode',
  modes: {
    DISABLED: 'disable',
    REQUIRED: 'require',
    VERIFY_CA: 'verify-ca',
    VERIFY_IDENTITY: 'verify-full',
  },
};
const SCHEMES: Readonly<Record<EngineFamily, Scheme>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  pgbouncer: POSTGRES,
};

/**
 * Parses `postgres://user:password@host:port/database`, with several servers `…@one:5432,two:5433/…`. A socket's folder is
 * `%2Ffolder` in place of the host, or `?host=/folder`. The defaults are port 5432 and database `postgres`. `mysql://` and
 * `mariadb://` default to port 3306 and no database, `pgbouncer://` to port 6432 and its console; their socket is a file, also accepted as `?socket=`. The TLS mode may
 * be `?sslmode=`, in MySQL's URLs `?ssl-mode=`. PostgreSQL's `channel_binding` may be `prefer` or `disable`. Throws a {@link Rejection} that shows no part of the URL, because it may
 * contain a password.
 */
export function parseConnectionUrl(given: string): DatabaseAddress {
  const text = plainUrl(given);
  const foreign = foreignAddress(text);
  if (foreign !== null) throw wrong(foreign);
  const parts = URL_FORM.exec(text);
  if (!parts) throw wrong('percent-encode special characters in the password, such as %40 for @');
  const [, name = '', user = '', password = '', hosts = '', database = '', query = ''] = parts;
  const engine = engineOfScheme(name);
  const scheme = SCHEMES[familyOf(engine)];
  const usual = traitsOf(engine);
  const parameters = [...new URLSearchParams(query)];
  const tls = tlsIn(parameters, scheme);
  if (scheme === POSTGRES) checkChannelBinding(parameters);
  const others = parameters.filter(
    ([parameter]) => parameter !== scheme.tls && !(scheme === POSTGRES && parameter === CHANNEL_BINDING),
  );
  const servers = hosts.split(',').map((part) => serverOf(part, others, scheme, usual.port));
  const [first] = servers;
  if (!first) throw wrong('it has no host');
  const several = servers.length > 1;
  if (servers.length > MOST_HOSTS)
    throw invalidParameter('url', `A connection can have at most ${MOST_HOSTS} hosts: leave out the others.`);
  if (several && servers.some(({ host }) => host.startsWith('/')))
    throw wrong('a socket cannot be one of several hosts');
  if (user === '') throw wrong('it has no user');
  return {
    engine,
    connection_type: first.host.startsWith('/') ? 'unix_socket' : 'direct',
    host: several ? servers.map(written).join(',') : first.host,
    port: first.port,
    database: decode(database) || usual.database,
    username: decode(user),
    password: decode(password) || null,
    ...(tls && { tls }),
  };
}

/**
 * The address from separate fields: `host` is a name, an address, several of them as `one:5432,two:5433`, or the path of a
 * Unix socket. Throws a {@link Rejection}.
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
    throw invalidParameter('host', 'The host must be a name, an address, or the path of a socket.');
  const six = !socket && /^[0-9A-Fa-f:.]+$/.test(host) && host.split(':').length > 2;
  const server = socket ? encodeURIComponent(host) : six ? `[${host}]` : host;
  const several = !socket && !six && /[,:]/.test(host);
  const own = port === undefined || several ? '' : `:${port}`;
  const user = encodeURIComponent(username);
  return parseConnectionUrl(`${engine}://${user}@${server}${own}/${encodeURIComponent(database)}`);
}

type Parameters = readonly (readonly [string, string])[];

function tlsIn(parameters: Parameters, { tls, modes }: Scheme): TlsMode | undefined {
  const [first, ...others] = parameters.filter(([name]) => name === tls);
  if (!first) return undefined;
  const mode = new Map(Object.entries(modes)).get(first[1]);
  // Others, such as prefer, connect without TLS if somebody on the way prevents it.
  if (!mode || others.length > 0) throw wrong(`its ${tls} is one of ${Object.keys(modes).join(', ')}`);
  return mode;
}

const CHANNEL_BINDING = 'channel_binding';

// The service binds no login to its TLS channel. `prefer` demands none either: whoever answers may not offer it.
function checkChannelBinding(parameters: Parameters): void {
  const values = parameters.filter(([name]) => name === CHANNEL_BINDING).map(([, value]) => value);
  if (values.includes('require'))
    throw invalidParameter(
      'url',
      'Remove channel_binding=require from the URL and use sslmode=verify-full: dbvitals cannot require channel binding, but verify-full verifies the certificate and the name of the server.',
    );
  if (values.length > 1 || values.some((value) => value !== 'prefer' && value !== 'disable'))
    throw wrong(`its ${CHANNEL_BINDING} is one of disable, prefer`);
}

function serverOf(
  part: string,
  parameters: Parameters,
  scheme: Scheme,
  usualPort: number,
): { host: string; port: number } {
  const [whole, address6, name = '', port = usualPort] = HOST_FORM.exec(part) ?? [];
  if (whole === undefined) throw wrong('an IPv6 address needs brackets, and a port is a number');
  const named = address6 === undefined ? decode(name) : address6.replace(/%(?:25)?/, '%');
  const host = parameters.length === 0 ? named : socketOf(parameters, named, scheme);
  if (!host.startsWith('/') && !address6 && !/^[0-9A-Za-z_.-]+$/.test(host)) throw wrong('it has no host');
  if (Number(port) < 1 || Number(port) > 65_535) throw wrong('its port must be 1 to 65535');
  return { host, port: Number(port) };
}

function written({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function socketOf(parameters: Parameters, host: string, { sockets, socket, tls }: Scheme): string {
  const [[name = '', path = ''] = [], ...others] = parameters;
  const unknown = parameters.find(([each]) => !sockets.includes(each) && OF_OTHERS.has(each));
  if (unknown) {
    const known = `its only parameters are ${tls}, and ${sockets[0]}=/${socket} of a Unix socket`;
    throw invalidParameter('url', `Remove ${unknown[0]} from the URL: ${known}.`);
  }
  const stray = others.length > 0 || !sockets.includes(name);
  if (stray || !path.startsWith('/') || host !== '' || /\p{Cc}/u.test(path)) {
    throw wrong(`its only parameters are ${tls}, and ${sockets[0]}=/${socket} of a Unix socket`);
  }
  return path;
}

/** Parameters of other clients. Only these are named in a sentence: any other word may be a part of a password. */
const OF_OTHERS = new Set(
  // Of libpq.
  (
    'application_name fallback_application_name options connect_timeout client_encoding target_session_attrs load_balance_hosts ' +
    'sslrootcert sslcert sslkey sslpassword sslcrl sslcrldir sslsni sslcertmode sslcompression sslnegotiation sslkeylogfile ' +
    'ssl_min_protocol_version ssl_max_protocol_version min_protocol_version max_protocol_version require_auth requirepeer ' +
    'gssencmode gssdelegation gsslib krbsrvname hostaddr passfile replication service servicefile keepalives keepalives_idle ' +
    'keepalives_interval keepalives_count tcp_user_timeout scram_client_key scram_server_key user password port dbname ' +
    'channel_binding sslmode ' +
    // Of JDBC, Prisma, Node, Python, Go and others.
    'pgbouncer schema search_path currentSchema pool_timeout connection_limit endpoint ssl useSSL requireSSL sslMode ' +
    'ssl-mode ssl-ca ssl_ca ssl-cert ssl-key tls serverTimezone allowPublicKeyRetrieval charset collation timeout parseTime loc ' +
    'statement_timeout lock_timeout idle_in_transaction_session_timeout query_timeout socket_timeout statement_cache_size ' +
    'prepareThreshold preparedStatementCacheQueries reWriteBatchedInserts targetServerType loadBalanceHosts tcpKeepAlive ' +
    'ApplicationName connectTimeout socketTimeout loginTimeout binaryTransfer stringtype sslfactory sslaccept sslidentity ' +
    'uselibpqcompat pool_max_conns pool_min_conns pool_max_conn_lifetime max min pool_size maxPoolSize connectionLimit ' +
    'connection_timeout default_query_exec_mode prefer_simple_protocol useUnicode characterEncoding allowLoadLocalInfile ' +
    'zeroDateTimeBehavior autoReconnect useLegacyDatetimeCode allowMultiQueries rewriteBatchedStatements cachePrepStmts ' +
    'trustServerCertificate verifyServerCertificate serverSslCert multiStatements allowNativePasswords interpolateParams ' +
    'readTimeout writeTimeout unix_socket read_timeout write_timeout autocommit local_infile'
  ).split(' '),
);

function decode(part: string): string {
  let text: string | undefined;
  try {
    text = decodeURIComponent(part);
  } catch {
    throw wrong('write % as %25');
  }
  if (/\p{Cc}/u.test(text)) throw wrong('it contains a control character');
  return text;
}

function wrong(reason: string): Rejection {
  return invalidParameter(
    'url',
    `The URL must look like postgres://user:password@host:5432/database or mysql://user:password@host:3306 (${reason}).`,
  );
}
