import { versionNumber } from '../../checks/mysql/flavour.ts';
import { readHiddenSchemas } from '../../checks/mysql/hidden-schemas.ts';
import { quoted } from '../../checks/mysql/quote.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import { MYSQL_VARIABLES, providerOfMysql } from '../../vocabulary/hosted/providers.ts';
import type { RunFacts } from './engine-parts.ts';
import type { Session } from './session.ts';

// Each flavour runs only its own comment. An unknown @@variable would be an error.
const serverFacts = `
  select version() as version,
         current_user() as me,
         @@version_comment as comment,
         @@basedir as folder,
         @@global.read_only as standby,
         /*!80016 @@global.partial_revokes as hides, */
         (select group_concat(lower(variable_name))
            from /*!80000 performance_schema.global_variables */ /*M! information_schema.global_variables */
           where variable_name in (${MYSQL_VARIABLES.map((name) => `'${name}'`).join(', ')})) as variables`;

/** Reads the version, the login and the provider of a MySQL or MariaDB server. One session sees all its databases. */
export async function factsOfMysql(session: Session): Promise<RunFacts> {
  const [row = {}] = await session.read(serverFacts);
  const { version: text, me, comment, folder, variables, standby, hides } = row;
  const version = typeof text === 'string' ? versionNumber(text) : null;
  if (version === null || typeof me !== 'string')
    throw new OwnWords('it is not a supported MySQL or MariaDB');
  const provider = providerOfMysql({
    version: String(text),
    comment: String(comment),
    folder: String(folder),
    variables: typeof variables === 'string' ? variables.split(',') : [],
  });
  const leftOut = hides === 1 ? await readHiddenSchemas((statement) => session.read(statement)) : [];
  return { version, databases: [], leftOut, me: quotedLogin(me), provider, isStandby: isReadOnly(standby) };
}

/** Whether a MySQL or MariaDB server accepts writes. */
export async function isMysqlPrimary(session: Session): Promise<boolean> {
  const [row] = await session.read('select @@global.read_only as standby');
  return row !== undefined && !isReadOnly(row['standby']);
}

// From version 12 of MariaDB on it is a word: OFF, ON, NO_LOCK, NO_LOCK_NO_ADMIN.
function isReadOnly(setting: unknown): boolean {
  return !['0', 'OFF', 'undefined', 'null'].includes(String(setting));
}

// `name@host`; a name may hold an @, a host can't. In backticks no character has two meanings, as a backslash has.
function quotedLogin(login: string): string {
  const at = login.lastIndexOf('@');
  return [login.slice(0, at), login.slice(at + 1)]
    .map((part) => (/^[\w.%$-]*$/.test(part) ? `'${part}'` : quoted(part)))
    .join('@');
}
