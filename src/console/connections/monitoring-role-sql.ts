import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { inPackage } from '../../config/package-root.ts';
import { nullable } from '../../http/endpoint.ts';
import { stringEnum } from '../../http/string-enum.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** The SQL that creates a monitoring login with least privilege. */
const MonitoringRoleSql = Type.Object({
  sql: Type.String(),
  /** What the login can see, and what it can't. */
  sees: Type.String(),
  /** Optional SQL for a few more checks; it grants more than most users want to grant. */
  optional: nullable(Type.Object({ why: Type.String(), sql: Type.String() })),
});

const LoginQuery = Type.Object({
  engine: stringEnum(...ENGINES),
  /** The login's name; default: `dbvitals_watcher`. */
  username: Type.Optional(
    Type.String({
      pattern: '^[a-z_][a-z0-9_]{0,62}$',
      description:
        'username must start with a lower-case letter, followed by lower-case letters, digits and _.',
    }),
  ),
});

export type MonitoringRoleSql = Static<typeof MonitoringRoleSql>;

const SECTION = { postgres: '## PostgreSQL', mysql: '## MySQL', mariadb: '## MariaDB' };
const WATCHER = 'dbvitals_watcher';
const page = readFileSync(inPackage('docs/least-privilege.md'), 'utf8');

const monitoringRoleSql = consoleRoute({
  method: 'GET',
  path: '/connections/login-sql',
  permission: 'connections:write',
  query: LoginQuery,
  response: MonitoringRoleSql,
  async handler({ query: { engine, username = WATCHER } }) {
    return loginFor(engine, username);
  },
});

export const monitoringRoleSqlRoutes: ConsoleRoute[] = [monitoringRoleSql];

/** Extracts the section for an engine from docs/least-privilege.md. Tests run its blocks unchanged. */
function loginFor(engine: keyof typeof SECTION, username: string): MonitoringRoleSql {
  const [, section = ''] = page.split(new RegExp(`^(?=${SECTION[engine]})`, 'm'));
  const [own = ''] = section.split(/\n(?=## )/);
  const [given = '', more] = own.split(/^### .*\n/m);
  const sees = /^The login sees .*$/m.exec(given)?.[0] ?? '';
  const why = more && /\S.*/.exec(more)?.[0];
  const of = (text: string) => blocksOf(text).replaceAll(WATCHER, username);
  return { sql: of(given), sees, optional: more && why ? { why, sql: of(more) } : null };
}

/** The SQL blocks; the line before each becomes a comment. */
function blocksOf(text: string): string {
  const sql = [...text.matchAll(/(.*)\n\n```sql\n([\s\S]*?)```/g)].map(([, before = '', block = '']) =>
    /^(#|The login sees)/.test(before) ? block : `-- ${before}\n${block}`,
  );
  return sql.join('').trim();
}
