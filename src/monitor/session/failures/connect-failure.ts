import { ForbiddenAddress } from '../../../platform/network/address.ts';
import { cleanText, quotedWords } from '../../../platform/text/clean-text.ts';
import { OwnWords } from '../../../platform/text/own-words.ts';
import { refusedLogin } from '../../../store/link/refused-login.ts';
import { ConnectRefused } from '../connect-refused.ts';
import { consoleRefusal } from '../pgbouncer/console-refusals.ts';
import { LoginsPaused, LoginUnanswered } from '../postgres/waiting-logins.ts';
import { HashingRefused, LoginRefused, PasswordRefused, StatementCancelled } from '../session.ts';
import { SshRefused } from '../ssh-tunnel.ts';
import { type Attempt, connectRemedy, type Remedy, UNTRUSTED } from './connect-advice.ts';
import { isConnectDenied, type LoginLimit, ownLimit } from './refusal-source.ts';

/** Why a target could not be connected to. */
export interface ConnectFailure extends Remedy {
  kind: 'unreachable' | 'unauthorized' | 'saturated';
  /** The end of a sentence. */
  reason: string;
  /** An immediate retry can't help. */
  final: boolean;
  /** For `saturated`: the limit is that of the login, not of the server. */
  isOwnLimit?: boolean;
  /** The server took the connection, and has not answered the login. */
  isLoginUnanswered?: true;
}

const REASONS = new Map([
  ['1044', 'the login has no access to the database (1044)'],
  ['1049', 'the database does not exist (1049)'],
  ['1129', 'the server has blocked this host after failed connections (1129)'],
  ['3D000', 'the database does not exist'],
  ['57P03', 'the server is starting up or shutting down'],
  ['EACCES', 'no permission to open the socket (EACCES)'],
  ['EAI_AGAIN', 'the DNS lookup failed temporarily (EAI_AGAIN)'],
  ['ECONNREFUSED', 'connection refused (ECONNREFUSED)'],
  ['ECONNRESET', 'the server closed the connection (ECONNRESET)'],
  ['EHOSTUNREACH', 'there is no route to the host (EHOSTUNREACH)'],
  ['ENETUNREACH', 'there is no route to the network (ENETUNREACH)'],
  ['ENOENT', 'the socket does not exist (ENOENT)'],
  ['ENOTFOUND', 'the host name does not exist (ENOTFOUND)'],
  ['EPIPE', 'the server closed the connection (EPIPE)'],
  ['ETIMEDOUT', 'it did not answer (ETIMEDOUT)'],
  ['PROTOCOL_CONNECTION_LOST', 'the server closed the connection'],
]);

// A retry does not help, although the login is right.
const FINAL = new Set(['3D000', '1044', '1049', '1129']);

const SATURATED = new Set(['53300', '1040', '1203', '1226']);

// MySQL's errors that refuse a login, https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html, and MariaDB's.
const LOGINS = new Map([
  ['1045', 'the server refused the login (1045)'],
  ['1130', 'the server accepts no login from this host (1130)'],
  ['1251', 'the server refused the login (1251)'],
  ['1275', 'the server refused the login (1275)'],
  ['1524', 'the server has not loaded the plugin that the login needs (1524)'],
  ['1698', 'the server refused the login (1698)'],
  ['1820', 'the password has expired (1820)'],
  ['1862', 'the password has expired (1862)'],
  ['3118', 'the login is locked (3118)'],
  ['3159', 'the server requires TLS (3159)'],
  ['3955', 'the login is locked after failed attempts (3955)'],
  ['4151', 'the login is locked (4151)'],
]);

/**
 * Explains a failed connection attempt that took at most `connectMs`. PostgreSQL refuses a login with an SQLSTATE of
 * class 28, MySQL with the errors above.
 */
export function connectFailure(error: unknown, connectMs: number, attempt: Attempt): ConnectFailure {
  const { code, message } = describeError(error);
  return { ...connectRemedy(error, code, message, attempt), ...explained(error, connectMs) };
}

type Cause = Omit<ConnectFailure, keyof Remedy>;

function explained(error: unknown, connectMs: number): Cause {
  const { code, message } = describeError(error);
  if (SATURATED.has(code)) {
    const own = ownLimit(error, code, message);
    // Of its own limit, a pulse may hold the last one: it ends that session when it finds so.
    const final = own !== 'connections at once';
    return { kind: 'saturated', reason: `${usedUp(own)} (${code})`, final, isOwnLimit: own !== null };
  }
  const refusedConsole = consoleRefusal(code, message);
  if (refusedConsole !== null) return unauthorized(refusedConsole);
  const login = LOGINS.get(code);
  if (login !== undefined) return unauthorized(login);
  if (code.startsWith('28')) return unauthorized(`${refusedLogin(message)} (SQLSTATE ${code})`);
  if (code === '42501' && isConnectDenied(error, message))
    return unauthorized('the role may not connect to the database (SQLSTATE 42501)');
  if ([PasswordRefused, HashingRefused, LoginRefused].some((refused) => error instanceof refused))
    return unauthorized(message);
  // pg's own errors of SCRAM: no password is stored, or the server can't prove that it knows the password.
  if (message.startsWith('SASL')) return unauthorized('the password exchange failed (SCRAM)');
  if (isTimeout(error)) {
    const isLoginUnanswered = error instanceof LoginUnanswered;
    const reason = `it did not answer ${isLoginUnanswered ? 'the login ' : ''}within ${connectMs / 1_000} s`;
    return { kind: 'unreachable', reason, final: false, ...(isLoginUnanswered && { isLoginUnanswered }) };
  }
  const tls = tlsReason(code, message);
  const named = REASONS.get(code) ?? causeOf(error, 200);
  const refused = [ForbiddenAddress, SshRefused, ConnectRefused, LoginsPaused].some(
    (refused) => error instanceof refused,
  );
  const final = tls !== null || refused || FINAL.has(code);
  return { kind: 'unreachable', reason: tls ?? named, final };
}

function usedUp(own: LoginLimit | null): string {
  switch (own) {
    case null:
      return 'all its connections are in use';
    case 'connections at once':
      return 'all connections of its own limit are in use';
    default:
      return `the login has used up its ${own}`;
  }
}

function unauthorized(reason: string): Cause {
  return { kind: 'unauthorized', reason, final: true };
}

function tlsReason(code: string, message: string): string | null {
  if (UNTRUSTED.test(code)) {
    return `its TLS certificate is not from a trusted authority (${code})`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its TLS certificate is for another host name (${code})`;
  }
  if (/^ERR_SSL_|^EPROTO$/.test(code)) return `the TLS handshake failed (${code})`;
  if (code === 'CERT_HAS_EXPIRED') return `its TLS certificate has expired (${code})`;
  if (/CERT|^ERR_TLS/.test(code)) return `its TLS certificate was rejected (${code})`;
  // pg's message for a server that declines TLS, and mysql2's code.
  const declined = code === 'HANDSHAKE_NO_SSL_SUPPORT' || /support SSL|an SSL connection/.test(message);
  return declined ? 'it does not support TLS' : null;
}

// SQLSTATEs.
const UNCONVERTIBLE = new Set(['22021', '22P05']);

/** Whether the server can't convert a text to the encoding of the database, or of the session. */
export function isUnconvertible(error: unknown): boolean {
  return UNCONVERTIBLE.has(describeError(error).code);
}

/** Whether an `AbortSignal.timeout` caused the error. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

// A server sends an SQLSTATE as any text, and a sentence shows it without quotes: one that is no word counts as none.
const CODE = /^\w{1,60}$/;

/** The code (SQLSTATE, MySQL's error number, or Node's code) and the message of a thrown value. */
export function describeError(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: '', message: String(error) };
  const { message } = error;
  // mysql2 has names for MySQL's errors only, so the number is used: MariaDB has numbers of its own.
  if ('sqlState' in error && 'errno' in error) return { code: String(error.errno), message };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { code: CODE.test(code) ? code : '', message };
}

/**
 * The cause of a failure, as the end of a sentence: our own words, or those of the server in quotes, at most `length` of them.
 */
export function causeOf(error: unknown, length: number): string {
  const { code, message } = describeError(error);
  if (error instanceof OwnWords) return cleanText(message, length);
  const words = quotedWords(message, length);
  const named = code === '' || message.includes(code) ? words : `${words} (${code})`;
  return isServerAnswer(error) ? `the server says ${named}` : `the error is ${named}`;
}

// SQLSTATEs, and error numbers of MySQL and MariaDB.
const SERVER_CODE = /^(?:[0-9A-Z]{5}|\d{4,5})$/;

/** Whether the server sent the error. Codes of Node, such as EPIPE, look like an SQLSTATE. */
export function isServerAnswer(error: unknown): boolean {
  const isOfSystem = error instanceof Error && 'syscall' in error;
  return !isOfSystem && SERVER_CODE.test(describeError(error).code);
}

/** Why a server refused to run a statement; null for other errors. */
export function refusalOf(error: unknown): 'timeout' | 'locked' | 'denied' | null {
  return error instanceof StatementCancelled ? null : (REFUSALS.get(describeError(error).code) ?? null);
}

// SQLSTATEs of PostgreSQL, error numbers of MySQL and MariaDB. Their timeouts are 3024 and 1969.
const REFUSALS = new Map<string, 'timeout' | 'locked' | 'denied'>([
  ['57014', 'timeout'],
  ['3024', 'timeout'],
  ['1969', 'timeout'],
  ['55P03', 'locked'],
  ['1205', 'locked'],
  ['42501', 'denied'],
  ['1044', 'denied'],
  ['1142', 'denied'],
  ['1143', 'denied'],
  ['1227', 'denied'],
]);
