import { NEEDS_TLS, refusedLogin } from './refused-login.ts';

const UNREACHABLE =
  /^(?:ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EPIPE)$/;
const UNTRUSTED =
  /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?)$/;
// The last one is the pool's own limit.
const SILENT =
  /^(?:timeout exceeded when trying to connect|timeout expired|Query read timeout|Connection terminated due to connection timeout)/;

const FOREIGN = /^(?:received invalid response|There was an error establishing an SSL connection)/;

/** What messages call a store, and the setting that has its URL. */
export interface StoreWords {
  store: string;
  setting: string;
}

/** The words for the only store. */
export const ONLY_STORE: StoreWords = { store: 'the store', setting: 'DATABASE_URL' };

/** Why connecting to a store failed and what to do, in a sentence; null = the error is about something else. */
export function connectFailure(error: unknown, { store, setting }: StoreWords): string | null {
  if (error instanceof AggregateError) return connectFailure(error.errors[0], { store, setting }); // a name with several addresses
  if (!(error instanceof Error)) return null;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const Store = store.charAt(0).toUpperCase() + store.slice(1);
  if (UNTRUSTED.test(code))
    return `The certificate of ${store} is not from an authority that this machine trusts (${code}): add sslrootcert=/path/to/ca.pem to ${setting}.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${store} is for another host name (${code}): use that name in ${setting}, or sslmode=verify-ca with sslrootcert.`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${store} is not valid now (${code}): renew it, and check the clocks of both machines.`;
  if (error.message.startsWith('The server does not support SSL'))
    return `${Store} offers no TLS: turn on ssl in its postgresql.conf, or set sslmode=disable in ${setting}.`;
  if (SILENT.test(error.message))
    return `${Store} does not answer: check that PostgreSQL is running, that no firewall is in between, and that ${setting} is right.`;
  if (error.message.startsWith('Connection terminated'))
    return `${Store} ended the connection: see its log, and check that ${setting} names PostgreSQL itself.`;
  if (FOREIGN.test(error.message))
    return `What answers as ${store} does not speak PostgreSQL's protocol: check host and port in ${setting}.`;
  if (code === '57P03') return `${Store} is starting or stopping (57P03): try again in a moment.`;
  if (code === '53300')
    return `${Store} has no connection left (53300): end idle ones, or raise max_connections (docs/operate/tune.md).`;
  if (UNREACHABLE.test(code) || ('syscall' in error && error.syscall === 'connect'))
    return `Can't connect to ${store} (${code}): check that PostgreSQL is running and that ${setting} is right.`;
  if (code === '28000') {
    const what = NEEDS_TLS.test(error.message)
      ? 'set sslmode=verify-full or sslmode=require'
      : 'correct the URL';
    return `${Store} rejected the login (28000), because ${refusedLogin(error.message)}: ${what} in ${setting}, or allow it on the server.`;
  }
  if (code.startsWith('28'))
    return `${Store} rejected the login (${code}): check the user and password in ${setting}.`;
  if (code === '3D000') return `${Store} has no such database: create it, or correct its name in ${setting}.`;
  return null;
}
