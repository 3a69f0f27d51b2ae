import { versionNumber } from '../../checks/mysql/flavour.ts';
import { quoted } from '../../checks/mysql/quote.ts';
import { MYSQL_VARIABLES, providerOfMysql } from '../../vocabulary/hosted/providers.ts';
import type { RunFacts } from './engine-parts.ts';
import type { Session } from './session.ts';

// Each flavour runs only its own comment. An unknown @@variable would be an error.
const serverFacts = `
  select version() as version,
         current_user() as me,
         @@version_comment as comment,
         @@basedir as folder,
         (select group_concat(lower(variable_name))
            from /*!80000 performance_schema.global_variables */ /*M! information_schema.global_variables */
           where variable_name in (${MYSQL_VARIABLES.map((name) => `'${name}'`).join(', ')})) as variables`;

/** Reads the version, the login and the provider of a MySQL or MariaDB server. One session sees all its databases. */
export async function factsOfMysql(session: Session): Promise<RunFacts> {
  const [{ version: text, me, comment, folder, variables } = {}] = await session.read(serverFacts);
  const version = typeof text === 'string' ? versionNumber(text) : null;
  if (version === null || typeof me !== 'string') throw new Error('it is not a supported MySQL or MariaDB');
  const provider = providerOfMysql({
    version: String(text),
    comment: String(comment),
    folder: String(folder),
    variables: typeof variables === 'string' ? variables.split(',') : [],
  });
  return { version, databases: [], me: quotedLogin(me), provider };
}

/** Whether a MySQL or MariaDB server accepts writes. */
export async function isMysqlPrimary(session: Session): Promise<boolean> {
  const [row] = await session.read('select @@global.read_only as standby');
  return row?.['standby'] === 0;
}

// `name@host`; a name may hold an @, a host can't. In backticks no character has two meanings, as a backslash has.
function quotedLogin(login: string): string {
  const at = login.lastIndexOf('@');
  return [login.slice(0, at), login.slice(at + 1)]
    .map((part) => (/^[\w.%$-]*$/.test(part) ? `'${part}'` : quoted(part)))
    .join('@');
}
