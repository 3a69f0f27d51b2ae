import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { type ConsoleRoute, consoleRoute } from './route.ts';
import { word } from './word.ts';

/** The statements that make the login which a connection needs, with as few rights as its checks get by with. */
const LoginSql = Type.Object({ sql: Type.String() });

const LoginQuery = Type.Object({
  engine: word('postgres', 'mysql', 'mariadb'),
  /** Of the login; `dbvitals_watcher` where not given. */
  username: Type.Optional(
    Type.String({
      pattern: '^[a-z_][a-z0-9_]{0,62}$',
      description: 'username must be a small letter, then small letters, digits and _.',
    }),
  ),
});

export type LoginSql = Static<typeof LoginSql>;

const SECTION = { postgres: '## PostgreSQL', mysql: '## MySQL', mariadb: '## MariaDB' };
const WATCHER = 'dbvitals_watcher';
const page = readFileSync(new URL('../../docs/least-privilege.md', import.meta.url), 'utf8');

const loginSql = consoleRoute({
  method: 'GET',
  path: '/connections/login-sql',
  permission: 'connections:write',
  query: LoginQuery,
  response: LoginSql,
  async handler({ query: { engine, username = WATCHER } }) {
    return { sql: sqlFor(engine).replaceAll(WATCHER, username) };
  },
});

export const loginSqlRoutes: ConsoleRoute[] = [loginSql];

/** The blocks of the page's section, which tests paste as they stand; the line before each stands as a comment. */
function sqlFor(engine: keyof typeof SECTION): string {
  const [, section = ''] = page.split(new RegExp(`^(?=${SECTION[engine]})`, 'm'));
  const [blocks = ''] = section.split(/^\|/m);
  const sql = [...blocks.matchAll(/(.*)\n\n```sql\n([\s\S]*?)```/g)].map(([, before = '', block = '']) =>
    before.startsWith('#') ? block : `-- ${before}\n${block}`,
  );
  return sql.join('').trim();
}
