import { loginSql } from '../../connections/monitoring-login/login-sql.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ENGINES } from '../../vocabulary/engines.ts';
import { PROVIDERS } from '../../vocabulary/hosted/providers.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

/** The SQL that creates a monitoring login with least privilege. */
const MonitoringRoleSql = Type.Object({
  sql: Type.String(),
  /** What to know besides the statements, in sentences. */
  notes: Type.Array(Type.String()),
  grants: Type.Array(
    Type.Object({
      id: Type.String(),
      privilege: Type.String(),
      /** What it lets the login see. */
      why: Type.String(),
      /** The checks that are skipped without it. */
      checks: Type.Array(Type.String()),
      is_default: Type.Boolean(),
      is_granted: Type.Boolean(),
    }),
  ),
});

const LoginQuery = Type.Object({
  engine: stringEnum(...ENGINES),
  provider: Type.Optional(stringEnum(...PROVIDERS)),
  /** The login's name; default: `dbvitals_watcher`. */
  username: Type.Optional(Type.String({ maxLength: 200 })),
  /** From where it may log in; for MySQL and MariaDB. */
  host: Type.Optional(Type.String({ maxLength: 255 })),
  /** Ids of grants, separated by commas; `none` = no grant; default: those that are the default. */
  grants: Type.Optional(Type.String({ maxLength: 200 })),
});

export type MonitoringRoleSql = Static<typeof MonitoringRoleSql>;

const monitoringRoleSql = consoleRoute({
  method: 'GET',
  path: '/connections/login-sql',
  permission: 'connections:write',
  query: LoginQuery,
  response: MonitoringRoleSql,
  async handler({ query: { engine, provider = null, username, host, grants } }) {
    const ids = grants === 'none' ? [] : grants?.split(',');
    const { grants: listed, ...login } = loginSql({ engine, provider, username, host, grants: ids });
    return { ...login, grants: listed.map((grant) => ({ ...grant, checks: [...grant.checks] })) };
  },
});

export const monitoringRoleSqlRoutes: ConsoleRoute[] = [monitoringRoleSql];
