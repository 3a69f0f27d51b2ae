import { ForbiddenAddress } from '../../../platform/network/address.ts';
import { NEEDS_TLS, NO_LOGIN, NO_ROLE, NO_RULE, REJECTED } from '../../../store/link/refused-login.ts';
import { ConnectRefused } from '../connect-refused.ts';
import { consoleAdvice } from '../pgbouncer/console-refusals.ts';
import { LoginsPaused, LoginUnanswered } from '../postgres/waiting-logins.ts';
import { PasswordRefused, type Target } from '../session.ts';
import { isConnectDenied, type LoginLimit, ownLimit } from './refusal-source.ts';
import { addressesIn, allowingRule, connectGrant, loginStatement } from './remedy-text.ts';

const PASSWORD =
  'Check the login and its password on the server, then set the password again (--password-stdin).';
const EXPIRED =
  'Give the login a new password on the server (ALTER USER … IDENTIFIED BY …), then set it here (--password-stdin).';
const UNLOCK = 'Find out who locked the login, then unlock it on the server (ALTER USER … ACCOUNT UNLOCK).';
const DATABASE = 'Correct the database of the connection, or create it on the server.';
const ROUTE =
  'Correct the host of the connection, or the routes, the VPN or the firewall between this machine and the server.';
const SILENT =
  "Check that a firewall or security group lets this machine reach the server's port, and that the server is not overloaded.";
const CATALOGUE =
  'Check that the port is that of the database, and that a proxy in front of it has a server. Then look there for a session that locks a catalogue (in pg_locks: a granted AccessExclusiveLock on a relation of pg_catalog), and end it. Without one, the server is overloaded or stopped.';
const CHECK_NOW = 'A health check that you start logs in at once.';
const CLOSED =
  'Read the log of the server, and of a proxy in front of it, for why it closed the connection: a crash, a restart or a limit.';
const POOLER = 'End connections that nobody needs, put a pooler in front, or raise max_connections.';
const OWN_LIMIT =
  "End connections of the login that nobody needs, or raise the login's own limit (ALTER USER … WITH MAX_USER_CONNECTIONS …).";

const OF_LIMITS: Readonly<Record<LoginLimit, string>> = {
  'connections at once': OWN_LIMIT,
  'connections of an hour':
    'Take the limit from the login (ALTER USER … WITH MAX_CONNECTIONS_PER_HOUR 0), or let the connection be checked less often. Until then, wait for the next hour.',
  'statements of an hour':
    'Take the limits from the login (ALTER USER … WITH MAX_QUERIES_PER_HOUR 0 MAX_UPDATES_PER_HOUR 0), or let the connection be checked less often. Until then, wait for the next hour.',
};

/** Codes of Node, SQLSTATEs, and error numbers of MySQL and MariaDB, as connect-failure.ts explains them. */
const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '1040': POOLER,
    '1044': 'Grant the login a privilege on the database, or correct the database of the connection.',
    '1049': DATABASE,
    '1129':
      'Find out why connections from this machine failed. Then unblock it: FLUSH HOSTS on MariaDB, TRUNCATE TABLE performance_schema.host_cache on MySQL.',
    '1203': OWN_LIMIT,
    '1251':
      'Give the login an authentication plugin that is supported (ALTER USER … IDENTIFIED WITH caching_sha2_password BY …).',
    '1275':
      'Give the login a new password on the server: the old one is stored in a form that is no longer used.',
    '1524':
      'Load the authentication plugin of the login on the server (INSTALL PLUGIN), or give the login another one.',
    '1698':
      'The login may log in only through the socket as the user of the same name. Give it a password, or use another login.',
    '1820': EXPIRED,
    '1862': EXPIRED,
    '28000':
      'Let pg_hba.conf allow this login from this machine, and the role log in (ALTER ROLE … LOGIN). The log of the server names the rule that refused it.',
    '28P01': PASSWORD,
    '3118': UNLOCK,
    '3159': 'Choose the TLS mode require (--tls): the server refuses logins without TLS.',
    '3955': UNLOCK,
    '3D000': DATABASE,
    '4151': UNLOCK,
    '53300': POOLER,
    '57P03':
      'Wait until the server has started. If it takes long, read its log: a recovery or a shutdown may take its time.',
    EACCES:
      'Let the user of the service open the socket: check the permissions of the socket and of its folder.',
    EAI_AGAIN: 'Check the DNS servers of this machine, and run the check again.',
    ECONNREFUSED:
      'Start the server, or correct the host and port of the connection. The server must listen on that address (listen_addresses, bind_address).',
    ECONNRESET: CLOSED,
    EHOSTUNREACH: ROUTE,
    ENETUNREACH: ROUTE,
    ENOENT: 'Start the server, or correct the path of the socket in the connection.',
    ENOTFOUND: 'Correct the host name of the connection, or its entry in the DNS.',
    ERR_TLS_CERT_ALTNAME_INVALID:
      'Use a host name that the certificate contains, or give the server a certificate with this name. If only its authority is to be verified, choose the TLS mode verify-ca (--tls, --ca-file).',
    EPIPE: CLOSED,
    ETIMEDOUT: SILENT,
    PROTOCOL_CONNECTION_LOST: CLOSED,
  }),
);

/** What a person can do about a failed connection attempt. */
export interface Remedy {
  /** In sentences. Options of the command line stand in brackets. */
  advice: string;
  /** A line or a statement that the advice ends with; null = none. */
  paste: string | null;
  /** A stricter TLS mode that the server asks for; null = none. A weaker one is never proposed: the server may be a stranger. */
  tls: 'require' | null;
}

/** The part of a target that remedies are about. */
export type Attempt = Pick<Target, 'engine' | 'tls' | 'username' | 'database' | 'connectionType'>;

/** What a person can do about a failed connection attempt. `message` comes from the server: it is quoted nowhere. */
export function connectRemedy(error: unknown, code: string, message: string, attempt: Attempt): Remedy {
  if (error instanceof ForbiddenAddress) {
    return remedy(
      'Use an address that the service may connect to. Whether private addresses are allowed is a setting of the service (DBVITALS_ALLOW_PRIVATE_TARGETS).',
    );
  }
  if (error instanceof PasswordRefused) return remedy(`${error.advice} ${ALLOW_PASSWORD}`);
  if (error instanceof ConnectRefused) return remedy(error.advice);
  if (error instanceof LoginUnanswered) return remedy(CATALOGUE);
  if (error instanceof LoginsPaused) return remedy(`${CATALOGUE} ${CHECK_NOW}`);
  const ofConsole = consoleAdvice(code, message, attempt.engine);
  if (ofConsole !== null) return remedy(ofConsole);
  switch (code) {
    case '53300':
      if (ownLimit(error, code, message) !== null) return remedy(LIMIT);
      break;
    case '1226':
      return remedy(OF_LIMITS[ownLimit(error, code, message) ?? 'connections at once']);
    case '42501':
      if (isConnectDenied(error, message)) return remedy(MAY_NOT_CONNECT, connectGrant(attempt));
      break;
    case '28000':
      return ofRule(message, attempt);
    case '1045':
      if (message.includes('(using password: NO)'))
        return remedy('Enter the password of the login (--password-stdin): none was sent.');
      return remedy(mayNeedTls(attempt) ? `${PASSWORD} ${REQUIRES_SSL}` : PASSWORD);
    case '1130': {
      const [address] = addressesIn(message, /^Host '([^']*)'/);
      const here = address === undefined ? 'the address of this machine' : address;
      return remedy(
        `Create the login on the server for ${here}, or for % (CREATE USER …), and grant it the same privileges.`,
      );
    }
    case '3159':
      return remedy(ADVICE.get(code) ?? '', null, 'require');
  }
  if (message.startsWith('SASL')) {
    return remedy(
      'Set the password of the login again on the server with password_encryption = scram-sha-256, then set it here (--password-stdin).',
    );
  }
  if (UNTRUSTED.test(code)) return ofAuthority(attempt);
  return remedy(ADVICE.get(code) ?? (isSilence(error) ? SILENT : tlsAdvice(code, message)));
}

/** Codes of Node for a certificate of an authority that it does not know. */
export const UNTRUSTED = /^(?:UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|CERT_UNTRUSTED)/;

const ADD_AUTHORITY =
  'Add the authority of the certificate to the trusted certificates of the connection (--ca-file) or of the service (NODE_EXTRA_CA_CERTS).';

/** How to find the authority of a server that has a certificate of its own. */
function ofAuthority({ engine }: Attempt): Remedy {
  switch (engine) {
    case 'postgres':
      return remedy(
        `${ADD_AUTHORITY} A self-signed certificate is its own authority. This shows its file on the server.`,
        'SHOW ssl_cert_file;',
      );
    case 'pgbouncer':
      return remedy(
        `${ADD_AUTHORITY} A self-signed certificate is its own authority: client_tls_cert_file of PgBouncer names it.`,
      );
    case 'mysql':
      return remedy(
        `${ADD_AUTHORITY} If MySQL made the certificate, also choose the TLS mode verify-ca (--tls), because it contains no host name. This shows the file of the authority on the server.`,
        "SHOW VARIABLES LIKE 'ssl_ca';",
      );
    case 'mariadb':
      return remedy(
        `${ADD_AUTHORITY} If ssl_cert is empty, MariaDB makes a certificate at each start, so give it a lasting one. This shows the files on the server.`,
        "SHOW VARIABLES LIKE 'ssl_c%';",
      );
  }
}

const LIMIT =
  'End connections that nobody needs, or raise the limit of the role or database (CONNECTION LIMIT in ALTER ROLE and ALTER DATABASE).';
const MAY_NOT_CONNECT = 'Let the role connect to the database. Run this as an administrator.';
const ALLOW_PASSWORD = 'Or allow the connection to send its password this way (--expose-password yes).';
const REQUIRES_SSL = 'If the login or the server requires TLS, choose the TLS mode require (--tls).';
const ADD_RULE =
  'Add this line to pg_hba.conf on the server, above rules that refuse it, then run SELECT pg_reload_conf().';

/** An advice, whose last sentence introduces what is to be pasted. */
function remedy(advice: string, paste: string | null = null, tls: Remedy['tls'] = null): Remedy {
  return { advice: paste === null ? advice : advice.replace(/\.$/, ':'), paste, tls };
}

/** SQLSTATE 28000: no rule, a rule that rejects, a role that does not exist or that may not log in. */
function ofRule(message: string, attempt: Attempt): Remedy {
  const rule = allowingRule(message, attempt);
  if (NEEDS_TLS.test(message)) {
    const advice = 'Choose the TLS mode require (--tls): the server refuses logins without TLS.';
    const also =
      'If it refuses them with TLS too, add this line to pg_hba.conf and run SELECT pg_reload_conf().';
    return remedy(rule === null ? advice : `${advice} ${also}`, rule, 'require');
  }
  if (NO_RULE.test(message) || REJECTED.test(message))
    return rule === null ? remedy(ADVICE.get('28000') ?? '') : remedy(ADD_RULE, rule);
  if (NO_LOGIN.test(message))
    return remedy('Let the role log in. Run this as an administrator.', loginStatement(attempt));
  if (NO_ROLE.test(message))
    return remedy(
      'Create the login on the server, or correct its name. docs/least-privilege.md has the SQL.',
    );
  return remedy(ADVICE.get('28000') ?? '');
}

function mayNeedTls({ tls, connectionType }: Attempt): boolean {
  return tls === 'disable' && connectionType !== 'unix_socket';
}

function isSilence(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function tlsAdvice(code: string, message: string): string {
  if (/^HANDSHAKE_NO_SSL|support SSL|an SSL connection/.test(`${code} ${message}`))
    return 'Turn on TLS on the server, or choose another TLS mode for the connection (--tls).';
  if (/EXPIRED|NOT_YET_VALID/.test(code)) return 'Renew the certificate of the server, and check the clocks.';
  if (/REVOKED/.test(code)) return 'Give the server a new certificate: its authority revoked this one.';
  if (/^ERR_SSL_|^EPROTO$/.test(code))
    return 'Let the server accept TLS 1.2 or later with usual ciphers, and check that the port is that of the database.';
  if (/CERT|^ERR_TLS/.test(code))
    return 'Give the server a certificate of a trusted authority, and check its purpose and its chain.';
  return 'Read the log of the server, and correct the host, port, database or TLS mode of the connection.';
}
