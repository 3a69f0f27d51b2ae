/** What PostgreSQL says if only connections with TLS may log in, if no rule is for this one, if a rule refuses it, and if the role may not. */
export const NEEDS_TLS = /no pg_hba\.conf entry .*(?:no encryption|SSL off)/;
export const NO_RULE = /no pg_hba\.conf entry/;
export const REJECTED = /pg_hba\.conf rejects connection/;
export const NO_LOGIN = /is not permitted to log in/;
export const NO_ROLE = /^role ".*" does not exist$/s;

/** Why PostgreSQL refused a login, by its message, which is in English, unless lc_messages says otherwise. */
export function refusedLogin(message: string): string {
  if (NEEDS_TLS.test(message)) return 'pg_hba.conf has no rule for this login from this machine without TLS';
  if (NO_RULE.test(message)) return 'pg_hba.conf has no rule for this login from this machine';
  if (REJECTED.test(message)) return 'a rule of pg_hba.conf rejects this login from this machine';
  if (NO_ROLE.test(message)) return 'the role does not exist';
  return NO_LOGIN.test(message) ? 'the role may not log in' : 'the server refused the login';
}
