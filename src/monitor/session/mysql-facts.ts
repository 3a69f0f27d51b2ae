import { versionNumber } from '../../checks/mysql/flavour.ts';
import type { RunFacts } from './engine.ts';
import type { Session } from './session.ts';

const serverFacts = 'select version() as version, current_user() as me';

/** Reads the version and the login of a MySQL or MariaDB server. One session sees all its databases. */
export async function factsOfMysql(session: Session): Promise<RunFacts> {
  const [{ version: text, me } = {}] = await session.read(serverFacts);
  const version = typeof text === 'string' ? versionNumber(text) : null;
  if (version === null || typeof me !== 'string') throw new Error('it is not a supported MySQL or MariaDB');
  return { version, databases: [], me: quotedLogin(me) };
}

/** Whether a MySQL or MariaDB server accepts writes. */
export async function isMysqlPrimary(session: Session): Promise<boolean> {
  const [row] = await session.read('select @@global.read_only as standby');
  return row?.['standby'] === 0;
}

// `name@host`; a name may hold an @, a host can't.
function quotedLogin(login: string): string {
  const at = login.lastIndexOf('@');
  return [login.slice(0, at), login.slice(at + 1)]
    .map((part) => `'${part.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`)
    .join('@');
}
