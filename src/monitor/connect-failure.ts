import { RefusedAddress } from './address.ts';
import { cleanText } from './clean-text.ts';
import { HashingRefused, PasswordRefused } from './postgres-session.ts';
import { SshRefused } from './ssh-tunnel.ts';

/** Why a target could not be connected to. */
export interface ConnectFailure {
  kind: 'unreachable' | 'unauthorized' | 'saturated';
  /** The end of a sentence. */
  reason: string;
  /** Trying again at once can't help. */
  final: boolean;
}

const REASONS: Record<string, string> = {
  '3D000': 'the database does not exist',
  '57P03': 'the server is starting up or shutting down',
  EACCES: 'the socket may not be opened (EACCES)',
  EAI_AGAIN: 'the host name could not be resolved for now (EAI_AGAIN)',
  ECONNREFUSED: 'nothing listens there (ECONNREFUSED)',
  ECONNRESET: 'the server closed the connection (ECONNRESET)',
  EHOSTUNREACH: 'there is no route to the host (EHOSTUNREACH)',
  ENETUNREACH: 'there is no route to the network (ENETUNREACH)',
  ENOENT: 'there is no such socket (ENOENT)',
  ENOTFOUND: 'there is no such host name (ENOTFOUND)',
  ETIMEDOUT: 'it did not answer (ETIMEDOUT)',
};

/** What a failed connection attempt of at most `connectMs` means; an SQLSTATE of class 28 is a refused login, 53300 too many connections. */
export function connectFailure(error: unknown, connectMs: number): ConnectFailure {
  const { code, message } = described(error);
  if (code === '53300')
    return { kind: 'saturated', reason: 'it has no connection left (53300)', final: true };
  if (code.startsWith('28')) return unauthorized(`the server refused the login (SQLSTATE ${code})`);
  if (error instanceof PasswordRefused)
    return unauthorized(`${message}, which it gets only after "connection change --expose-password yes"`);
  if (error instanceof HashingRefused) return unauthorized(message);
  // pg's own names of what goes wrong in SCRAM: no password stored, or a server that does not know it either.
  if (message.startsWith('SASL')) return unauthorized('the password exchange failed (SCRAM)');
  if (isTimeout(error)) {
    return { kind: 'unreachable', reason: `it did not answer within ${connectMs / 1_000} s`, final: false };
  }
  const tls = tlsReason(code, message);
  const named =
    REASONS[code] ?? cleanText(code && !message.includes(code) ? `${message} (${code})` : message, 200);
  const refused = error instanceof RefusedAddress || error instanceof SshRefused;
  const final = tls !== null || refused || code === '3D000';
  return { kind: 'unreachable', reason: tls ?? named, final };
}

function unauthorized(reason: string): ConnectFailure {
  return { kind: 'unauthorized', reason, final: true };
}

const UNTRUSTED = /^(?:UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|CERT_UNTRUSTED)/;

function tlsReason(code: string, message: string): string | null {
  if (UNTRUSTED.test(code)) {
    return `its TLS certificate is signed by nobody that is trusted (${code}): name the authority with "connection change --ca-file" or in NODE_EXTRA_CA_CERTS`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `its TLS certificate is for another host name (${code}): connect by a name that the certificate has`;
  }
  if (/CERT|^ERR_(TLS|SSL)/.test(code)) return `its TLS certificate is refused (${code})`;
  // pg's own words for a server that declines TLS.
  return /support SSL|an SSL connection/.test(message) ? 'it offers no TLS' : null;
}

/** Whether an `AbortSignal.timeout` ended it. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** The code (SQLSTATE or of Node) and the text of whatever was thrown. */
export function described(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: '', message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { code, message: error.message };
}
