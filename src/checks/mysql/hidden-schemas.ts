import type { Row } from '../fault.ts';
import { exactly, quoted } from './quote.ts';

/** The most schemas that are looked for. */
const MOST = 1_000;

// SHOW GRANTS has what the login has by its roles too, and quotes with backticks under the session's own sql_mode.
const REVOKED = /^REVOKE (.+) ON `((?:[^`]|``)+)`\.\* FROM /;
const GLOBAL = /^GRANT (.+) ON \*\.\* TO /;

/** Each of them makes every table of a schema visible. */
const SHOWS_ALL = ['REFERENCES', 'SELECT'];

/**
 * The schemas that MySQL's `partial_revokes` hides from the login, although they exist, in backticks. A revoke outlasts its schema, and
 * only InnoDB's dictionary tells whether that still exists. Without PROCESS, each counts as existing.
 */
export async function readHiddenSchemas(read: (statement: string) => Promise<Row[]>): Promise<string[]> {
  const grants = (await read('show grants')).map((row) => String(Object.values(row)[0]));
  const hidden = findHidden(grants).slice(0, MOST);
  if (hidden.length === 0) return [];
  const folders = await read(`
  select distinct substring_index(name, '/', 1) as folder
    from information_schema.innodb_tables
  having cast(folder as binary) in (${hidden.map((name) => exactly(toFolder(name))).join(', ')})`).catch(
    () => null,
  );
  const found = folders && new Set(folders.map(({ folder }) => String(folder)));
  return hidden
    .filter((name) => !found || found.has(toFolder(name)) || !isAscii(name))
    .map((name) => quoted(name));
}

// As MySQL names a schema's folder. MariaDB can compute it, and MySQL can't. Letters beyond ASCII have codes of several kinds.
function toFolder(name: string): string {
  return name.replace(/\W/g, (char) => `@${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isAscii(name: string): boolean {
  return /^[\x20-\x7e]*$/.test(name);
}

function findHidden(grants: readonly string[]): string[] {
  const has = grants.flatMap((grant) => GLOBAL.exec(grant)?.[1]?.split(', ') ?? []);
  const shown = SHOWS_ALL.filter((privilege) => has.includes(privilege));
  return grants.flatMap((grant) => {
    const [, revoked = '', schema] = REVOKED.exec(grant) ?? [];
    const gone = revoked.split(', ');
    if (schema === undefined || shown.some((privilege) => !gone.includes(privilege))) return [];
    return [schema.replaceAll('``', '`')];
  });
}
