import type { Command } from 'commander';
import { LOGIN_GRANTS } from '../../connections/monitoring-login/login-grants.ts';
import { type LoginRequest, loginSql } from '../../connections/monitoring-login/login-sql.ts';
import { ENGINES, type EngineFamily, familyOf } from '../../vocabulary/engines.ts';
import { PROVIDERS } from '../../vocabulary/hosted/providers.ts';
import { oneOf } from '../arguments.ts';
import { addCommand } from '../command.ts';
import { printOne } from '../print.ts';

const list = (text: string): string[] => text.split(',').filter(Boolean);

const grantsOf = (engine: (typeof ENGINES)[number]) =>
  LOGIN_GRANTS[engine]
    .map(({ id, privilege, isDefault }) => `  ${id}${isDefault ? '' : ' (not by default)'}: ${privilege}`)
    .join('\n');

const NOTES = `
Grants of postgres:
${grantsOf('postgres')}
Grants of mysql and mariadb (administrators: mysql only):
${grantsOf('mysql')}
pgbouncer: no grants. It prints lines of pgbouncer.ini.`;

/** How a comment begins in what is pasted. */
const COMMENTS: Readonly<Record<EngineFamily, string>> = { postgres: '--', mysql: '--', pgbouncer: ';' };

/** Adds `connection login-sql` to the group. */
export function addLoginSqlCommand(group: Command): void {
  addCommand(group, 'login-sql', 'print the SQL that creates a login for monitoring, with least privilege')
    .requiredOption('--engine <E>', ENGINES.join(', '), oneOf('--engine', ENGINES))
    .option('--provider <P>', `who hosts it: ${PROVIDERS.join(', ')}`, oneOf('--provider', PROVIDERS))
    .option('--user <S>', 'name of the login (default: dbvitals_watcher)')
    .option('--from <HOST>', 'the host that it may log in from, on MySQL and MariaDB (default: %)')
    .option('--grants <IDS>', 'only these grants, separated by commas (default: see below)', list)
    .addHelpText('after', NOTES)
    .action(
      ({
        engine,
        provider = null,
        user,
        from,
        grants,
        json,
      }: Pick<LoginRequest, 'engine' | 'grants'> & {
        provider?: LoginRequest['provider'];
        user?: string;
        from?: string;
        json?: boolean;
      }) => {
        const login = loginSql({ engine, provider, username: user, host: from, grants });
        if (json) printOne(json, { ...login });
        else {
          const notes = login.notes.map((note) => `${COMMENTS[familyOf(engine)]} ${note}`);
          process.stdout.write(`${[...notes, login.sql].join('\n')}\n`);
        }
      },
    );
}
