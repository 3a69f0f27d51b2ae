import { ForbiddenAddress } from '../../../network/address.ts';
import { ConnectRefused } from '../session.ts';

const PASSWORD =
  'Check the login and its password on the server, then set the password again ("connection change --password-stdin").';
const EXPIRED =
  'Give the login a new password on the server (ALTER USER … IDENTIFIED BY …), then set it here ("connection change --password-stdin").';
const UNLOCK = 'Find out who locked the login, then unlock it on the server (ALTER USER … ACCOUNT UNLOCK).';
const DATABASE = 'Correct the database of the connection ("connection change"), or create it on the server.';
const ROUTE =
  'Correct the host of the connection, or the routes, the VPN or the firewall between this machine and the server.';
const SILENT =
  "Check that a firewall or security group lets this machine reach the server's port, and that the server is not overloaded.";
const CLOSED =
  'Read the log of the server, and of a proxy in front of it, for why it closed the connection: a crash, a restart or a limit.';
const POOLER = 'End connections that nobody needs, put a pooler in front, or raise max_connections.';
const OWN_LIMIT =
  "End connections of the login that nobody needs, or raise the login's own limit (ALTER USER … WITH MAX_USER_CONNECTIONS …).";

/** Codes of Node, SQLSTATEs, and error numbers of MySQL and MariaDB, as connect-failure.ts explains them. */
const ADVICE: Readonly<Record<string, string>> = {
  '1040': POOLER,
  '1044':
    'Grant the login a privilege on the database, or correct the database of the connection ("connection change").',
  '1045': PASSWORD,
  '1049': DATABASE,
  '1129':
    'Find out why connections from this machine failed. Then unblock it: FLUSH HOSTS on MariaDB, TRUNCATE TABLE performance_schema.host_cache on MySQL.',
  '1130':
    'Create the login on the server for the address of this machine, or for % (CREATE USER …), and grant it the same privileges.',
  '1203': OWN_LIMIT,
  '1226': OWN_LIMIT,
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
  '3159': 'Choose a TLS mode that uses TLS ("connection change --tls").',
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
    'Start the server, or correct the host and port of the connection ("connection change"). The server must listen on that address (listen_addresses, bind_address).',
  ECONNRESET: CLOSED,
  EHOSTUNREACH: ROUTE,
  ENETUNREACH: ROUTE,
  ENOENT: 'Start the server, or correct the path of the socket in the connection ("connection change").',
  ENOTFOUND: 'Correct the host name of the connection ("connection change"), or its entry in the DNS.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Use a host name that the certificate contains, or give the server a certificate with this name.',
  ETIMEDOUT: SILENT,
  PROTOCOL_CONNECTION_LOST: CLOSED,
};

/** What PostgreSQL says if only connections with TLS may log in, if no rule is for this one, and if the role may not. */
export const NEEDS_TLS = /no pg_hba\.conf entry .*(?:no encryption|SSL off)/;
export const NO_RULE = /no pg_hba\.conf entry/;
export const NO_LOGIN = /is not permitted to log in/;

/** What a person can do about a failed connection attempt. */
export function connectAdvice(error: unknown, code: string, message: string): string {
  if (error instanceof ForbiddenAddress) {
    return 'Use an address that the service may connect to. Whether private addresses are allowed is a setting of the service (DBVITALS_ALLOW_PRIVATE_TARGETS).';
  }
  if (error instanceof ConnectRefused) return error.advice;
  if (code === '53300' && / for (?:role|database) /.test(message)) {
    return 'End connections that nobody needs, or raise the limit of the role or database (CONNECTION LIMIT in ALTER ROLE and ALTER DATABASE).';
  }
  if (code === '28000') {
    if (NEEDS_TLS.test(message))
      return 'Choose a TLS mode that uses TLS ("connection change --tls"), or let pg_hba.conf allow this login without it.';
    if (NO_LOGIN.test(message)) return 'Let the role log in: ALTER ROLE … LOGIN.';
  }
  if (message.startsWith('SASL')) {
    return 'Set the password of the login again on the server with password_encryption = scram-sha-256, then set it here ("connection change --password-stdin").';
  }
  return ADVICE[code] ?? (isSilence(error) ? SILENT : tlsAdvice(code, message));
}

function isSilence(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function tlsAdvice(code: string, message: string): string {
  if (/^HANDSHAKE_NO_SSL|support SSL|an SSL connection/.test(`${code} ${message}`))
    return 'Turn on TLS on the server, or choose another TLS mode for the connection ("connection change --tls").';
  if (/EXPIRED|NOT_YET_VALID/.test(code)) return 'Renew the certificate of the server, and check the clocks.';
  if (/REVOKED/.test(code)) return 'Give the server a new certificate: its authority revoked this one.';
  if (/^ERR_SSL_|^EPROTO$/.test(code))
    return 'Let the server accept TLS 1.2 or later with usual ciphers, and check that the port is that of the database.';
  if (/CERT|^UNABLE_TO_|^ERR_TLS/.test(code))
    return 'Add the authority of the certificate ("connection change --ca-file"), or give the server a certificate of a trusted authority.';
  return 'Read the log of the server, and correct the host, port, database or TLS mode of the connection ("connection change").';
}
