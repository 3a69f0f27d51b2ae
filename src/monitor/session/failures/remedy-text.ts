import { isIP } from 'node:net';
import { isPrintable } from '../../../platform/text/clean-text.ts';
import type { Target } from '../session.ts';

/** The address in a server's message, if it looks like one: a hostile server may write anything. */
export function addressesIn(message: string, pattern: RegExp): [string] | [] {
  const [, text = ''] = pattern.exec(message) ?? [];
  return /^[0-9A-Za-z.:_-]{1,255}$/.test(text) ? [text] : [];
}

/**
 * The line of pg_hba.conf that lets the login in from the machine that PostgreSQL's message names; null if it names none,
 * or if the name can't be written there. It is for all databases, because a run measures each of them.
 */
export function allowingRule(
  message: string,
  { username, tls }: Pick<Target, 'username' | 'tls'>,
): string | null {
  const role = identifier(username);
  // A name that begins with a slash would be a regular expression.
  if (role === null || username.startsWith('/')) return null;
  if (/for host "\[local\]"/.test(message)) return `local all ${role} scram-sha-256`;
  const [address] = addressesIn(message, /for host "([^"]*)"/);
  const version = address === undefined ? 0 : isIP(address);
  if (version === 0) return null;
  const isPlain = tls === 'disable' && !/no encryption|SSL off/.test(message);
  const type = isPlain ? 'host' : 'hostssl';
  return `${type} all ${role} ${address}/${version === 4 ? 32 : 128} scram-sha-256`;
}

/** The statement that lets a role log in; null if its name can't be written. */
export function loginStatement({ username }: Pick<Target, 'username'>): string | null {
  const role = identifier(username);
  return role && `ALTER ROLE ${role} LOGIN;`;
}

/** The statement that lets a role connect to the database; null if a name can't be written. */
export function connectGrant({ username, database }: Pick<Target, 'username' | 'database'>): string | null {
  const [role, name] = [identifier(username), identifier(database)];
  return role && name && `GRANT CONNECT ON DATABASE ${name} TO ${role};`;
}

/** A name in quotes, as SQL and pg_hba.conf read it; null for one that is not shown as it is. */
function identifier(name: string): string | null {
  return name !== '' && isPrintable(name) ? `"${name.replaceAll('"', '""')}"` : null;
}
