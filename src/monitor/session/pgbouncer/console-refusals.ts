import type { Engine } from '../../../vocabulary/engines.ts';

// PgBouncer refuses almost everything with one SQLSTATE. Its sentences tell what it is.
const REFUSED = '08P01';

/** The login is in neither of the two lists. Before the password is asked for. */
const NOT_ALLOWED = /^not allowed$/;
const WRONG_LOGIN =
  /^(?:SASL authentication failed|password authentication failed|(?:no such user|authentication failed|auth failed|login rejected)\b)/;

/** Why PgBouncer refused a login to its console, as the end of a sentence; null if it did not. */
export function consoleRefusal(code: string, message: string): string | null {
  if (code !== REFUSED) return null;
  if (NOT_ALLOWED.test(message)) return 'the login is not one of stats_users of PgBouncer (08P01)';
  return WRONG_LOGIN.test(message) ? 'PgBouncer refused the login (08P01)' : null;
}

/** What a person can do about it; null if it is none of these. */
export function consoleAdvice(code: string, message: string, engine: Engine): string | null {
  if (engine === 'pgbouncer' && code === '3D000')
    return 'This seems to be PostgreSQL itself, since PgBouncer always has the database pgbouncer: correct the host and port, or add the server with a URL that begins with postgres://.';
  if (code !== REFUSED) return null;
  if (NOT_ALLOWED.test(message))
    return 'Add the login to stats_users in pgbouncer.ini, then run RELOAD on the admin console.';
  return WRONG_LOGIN.test(message)
    ? 'Check that auth_file or auth_query of PgBouncer has the login, then set the password again (--password-stdin).'
    : null;
}
