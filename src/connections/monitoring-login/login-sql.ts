import { quoted } from '../../checks/mysql/quote.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { isPrintable } from '../../platform/text/clean-text.ts';
import { type Engine, familyOf, type SqlEngine } from '../../vocabulary/engines.ts';
import type { Provider } from '../../vocabulary/hosted/providers.ts';
import { loginNotes, nameAdministrator } from './hosted-logins.ts';
import { LOGIN_GRANTS, type LoginGrant } from './login-grants.ts';

/** The login's name by default. */
const WATCHER = 'dbvitals_watcher';

/** The longest name of a login, in bytes of UTF-8, or in characters on MySQL and MariaDB. */
const LONGEST: Readonly<Record<Engine, number>> = { postgres: 63, mysql: 32, mariadb: 80, pgbouncer: 63 };

/** Which login to create. */
export interface LoginRequest {
  engine: Engine;
  /** Who hosts the server; null = nobody that is known. */
  provider: Provider | null;
  username?: string | undefined;
  /** From where it may log in to MySQL or MariaDB; default: `%`, from anywhere. */
  host?: string | undefined;
  /** The ids of the grants; default: those that are the default. */
  grants?: readonly string[] | undefined;
}

/** How to create a login for monitoring. */
export interface LoginSql {
  /** To paste. It contains no secret: the password is a placeholder. */
  sql: string;
  notes: string[];
  grants: (Pick<LoginGrant, 'id' | 'privilege' | 'why' | 'checks'> & {
    is_default: boolean;
    is_granted: boolean;
  })[];
}

/**
 * The SQL that creates a login for monitoring with no more than the wanted privileges. Throws a {@link Rejection} for
 * a name, a host or a grant that can't be used.
 */
export function loginSql({
  engine,
  provider,
  username = WATCHER,
  host = '%',
  grants,
}: LoginRequest): LoginSql {
  const known = LOGIN_GRANTS[engine];
  const unknown = grants?.find((id) => !known.some((grant) => grant.id === id));
  if (unknown !== undefined)
    throw invalidParameter('grants', `There is no grant ${unknown}: use ${idsOf(known)}.`);
  const granted = known.filter(({ id, isDefault }) => grants?.includes(id) ?? isDefault);
  if (engine === 'pgbouncer') return pgbouncerLogin(username);
  const login = loginName(engine, username, host);
  const parts = engine === 'postgres' ? postgresParts(login, granted) : mysqlParts(engine, login, granted);
  const administrator = nameAdministrator(engine, provider);
  const sql = [`-- ${administrator}:`, ...parts.server];
  if (parts.database.length > 0)
    sql.push('-- In each database, with the second statement of each pair as the role that creates tables:');
  return {
    sql: [...sql, ...parts.database].join('\n'),
    notes: loginNotes(engine, provider),
    grants: known.map((grant) => ({
      id: grant.id,
      privilege: grant.privilege,
      why: grant.why,
      checks: grant.checks,
      is_default: grant.isDefault,
      is_granted: granted.includes(grant),
    })),
  };
}

/** PgBouncer has no GRANT: `stats_users` may run SHOW, and nothing else. */
function pgbouncerLogin(username: string): LoginSql {
  requireName('pgbouncer', username);
  // A list of names, without quotes.
  if (/[\s,"]/.test(username))
    throw invalidParameter('username', 'The name of the login must have no space, comma or quote.');
  return {
    sql: [
      '; In pgbouncer.ini, besides the names that are there:',
      `stats_users = ${username}`,
      '; In the file of auth_file, unless auth_query finds the login:',
      `"${username}" "change-me"`,
      '; Then on the admin console, as one of admin_users:',
      'RELOAD;',
    ].join('\n'),
    notes: [
      'The login reads statistics and settings. It can neither change PgBouncer nor log in to a database.',
    ],
    grants: [],
  };
}

interface Parts {
  server: string[];
  database: string[];
}

function postgresParts(login: string, granted: readonly LoginGrant[]): Parts {
  return {
    server: [
      `create role ${login} login password 'change-me';`,
      ...granted.flatMap(({ server = [] }) => server.map((text) => `${text} to ${login};`)),
    ],
    database: granted.flatMap(({ database = [] }) =>
      database.map((text) => text.replaceAll('{login}', () => login)),
    ),
  };
}

function mysqlParts(engine: SqlEngine, login: string, granted: readonly LoginGrant[]): Parts {
  const globals = granted.flatMap(({ global }) => global ?? []);
  const needsTls = engine === 'mysql' ? ' require ssl' : '';
  return {
    server: [
      `create user ${login} identified by 'change-me'${needsTls};`,
      ...(globals.length > 0 ? [`grant ${globals.join(', ')} on *.* to ${login};`] : []),
      ...granted.flatMap(({ server = [] }) => server.map((text) => `${text} to ${login};`)),
    ],
    database: [],
  };
}

/** The login as a statement names it. Any name but the default is quoted: it may be a reserved word, or hostile. */
function loginName(engine: SqlEngine, username: string, host: string): string {
  requireName(engine, username);
  if (!/^[0-9A-Za-z.:%_/-]{1,255}$/.test(host))
    throw invalidParameter('host', 'Enter a host name, an IP address, or % for any host.');
  if (engine === 'postgres') return username === WATCHER ? username : `"${username.replaceAll('"', '""')}"`;
  return `${username === WATCHER ? username : quoted(username)}@'${host}'`;
}

function requireName(engine: Engine, username: string): void {
  const length = familyOf(engine) !== 'mysql' ? Buffer.byteLength(username) : [...username].length;
  // A backslash is an escape to clients of MySQL, wherever it stands.
  if (!isPrintable(username) || username.includes('\\') || length < 1 || length > LONGEST[engine])
    throw invalidParameter(
      'username',
      `The name of the login must have 1 to ${LONGEST[engine]} printable characters, and no backslash.`,
    );
}

function idsOf(grants: readonly LoginGrant[]): string {
  return grants.map(({ id }) => id).join(', ');
}
