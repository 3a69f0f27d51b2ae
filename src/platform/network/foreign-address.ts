import { trimUnseen } from '../text/clean-text.ts';

// What other programs take for the address of a database, and how to write it. None of it is repeated: it may contain a password.
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^r2dbc:/i, 'remove "r2dbc:"'],
  [/^jdbc:/i, 'remove "jdbc:", and write user and password before the host, as in user:password@host'],
  [/^["'`\u2018-\u201f\u00ab\u00bb\u2039\u203a]/, 'remove the quotes'],
  [/^</, 'remove the brackets < and >'],
  [/^(?:export\s+|set\s+|\$env:)?[A-Z][A-Z0-9_]*\s*=/, 'leave out the name of the variable before it'],
  [/^(?:psql|mysql|mariadb|pg_dump|pgcli)\s/, 'leave out the command before it'],
  [
    /^(?:host|hostaddr|dbname|user|port|server|data source|address|addr|user id|uid|username|database|initial catalog)\s*=/i,
    'write the words host=…, user=… as a URL',
  ],
  [/@(?:tcp|tcp6|unix)\(/, 'write what is for the driver of Go as a URL'],
  [
    /^(?:mysql2|mysqlx|pgsql|psql|pg|(?:postgres(?:ql)?|mysql|mariadb)\+\w+):/i,
    'begin with the name of the database, without the name of a driver',
  ],
];

/** How to write what another program takes for the address of a database, as a clause; null = it is nothing that is known. */
export function foreignAddress(text: string): string | null {
  return FOREIGN.find(([form]) => form.test(text))?.[1] ?? null;
}

/** A URL without blanks and unseen marks around it, and with its scheme in lower case, as schemes have no case. */
export function plainUrl(text: string): string {
  return trimUnseen(text).replace(/^[a-z]+(?=:\/\/)/i, (scheme) => scheme.toLowerCase());
}
