import { quoted } from '../../../checks/mysql/quote.ts';
import { quotedName } from '../../../checks/postgres/server-texts.ts';
import { describeError } from './connect-failure.ts';

// PostgreSQL's message ends with the name, without quotes and without the schema.
const OF_POSTGRES =
  /^permission denied for (schema|table|view|materialized view|sequence|relation|function) (.+)$/s;

const FORMS: Readonly<Record<string, (name: string) => string>> = {
  schema: (name) => `USAGE ON SCHEMA ${name}`,
  function: (name) => `EXECUTE ON FUNCTION ${name}`,
  sequence: (name) => `SELECT ON SEQUENCE ${name}`,
};

// A server, or a proxy before it, may name anything in its message, and who reads the GRANT trusts it. So it never names more than
// what checks read: the server's own objects, and privileges that change nothing.
const READ_BY_CHECKS = /^pg_[a-z0-9_]+$/;
const SCHEMAS = new Set(['mysql', 'performance_schema', 'sys', 'information_schema']);
const COMMANDS = new Set(['SELECT', 'SHOW VIEW', 'EXECUTE']);
const PRIVILEGES = new Set([
  'PROCESS',
  'REPLICATION CLIENT',
  'BINLOG MONITOR',
  'SLAVE MONITOR',
  'REPLICA MONITOR',
  'SHOW VIEW',
  'SHOW DATABASES',
]);

const OF_MYSQL = /\(at least one of\) the ([A-Z_, ]+) privilege/;
const COMMAND = /^([A-Z ]+) command denied to user .* for table '?`?([^`'.]+)`?(?:\.`?([^`']+)`?)?'?$/s;

/**
 * What PostgreSQL denied a statement, by its message; undefined if the error is another, or in another language, or if no check
 * reads the object.
 */
export function deniedObject(error: unknown): { kind: string; name: string } | undefined {
  const { code, message } = describeError(error);
  if (code !== '42501') return undefined;
  const [, kind, name] = OF_POSTGRES.exec(message) ?? [];
  if (kind === undefined || name === undefined) return undefined;
  return kind === 'schema' || READ_BY_CHECKS.test(name) ? { kind, name } : undefined;
}

/**
 * What to grant after a server denied a statement, by its message; `pg_monitor` if the message of PostgreSQL is in another
 * language, and nothing if that of MySQL says nothing, or if it names what no check needs.
 */
export function lackingPrivilege(error: unknown): string[] {
  const { code, message } = describeError(error);
  if (code === '42501') {
    const denied = deniedObject(error);
    if (!denied) return OF_POSTGRES.test(message) ? [] : ['pg_monitor'];
    return [(FORMS[denied.kind] ?? ((table) => `SELECT ON TABLE ${table}`))(quotedName(denied.name))];
  }
  const [, all] = OF_MYSQL.exec(message) ?? [];
  if (all !== undefined) {
    const privilege = all.split(',').find((each) => PRIVILEGES.has(each.trim()));
    return privilege === undefined ? [] : [`${privilege.trim()} ON *.*`];
  }
  const [, command = '', schema = '', table] = COMMAND.exec(message) ?? [];
  if (!COMMANDS.has(command) || !SCHEMAS.has(schema.toLowerCase()) || table === undefined) return [];
  return [`${command} ON ${quoted(schema, table)}`];
}
