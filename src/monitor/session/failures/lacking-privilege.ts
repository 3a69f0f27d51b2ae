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

const OF_MYSQL = /\(at least one of\) the ([A-Z_, ]+) privilege/;
const COMMAND = /^([A-Z ]+) command denied to user .* for table '?`?([^`'.]+)`?(?:\.`?([^`']+)`?)?'?$/s;

/** What PostgreSQL denied a statement, by its message; undefined if the error is another, or in another language. */
export function deniedObject(error: unknown): { kind: string; name: string } | undefined {
  const { code, message } = describeError(error);
  if (code !== '42501') return undefined;
  const [, kind, name] = OF_POSTGRES.exec(message) ?? [];
  return kind === undefined || name === undefined ? undefined : { kind, name };
}

/**
 * What to grant after a server denied a statement, by its message; `pg_monitor` if the message of PostgreSQL is in another
 * language, and nothing if that of MySQL says nothing.
 */
export function lackingPrivilege(error: unknown): string[] {
  const { code, message } = describeError(error);
  if (code === '42501') {
    const denied = deniedObject(error);
    if (!denied) return ['pg_monitor'];
    return [(FORMS[denied.kind] ?? ((table) => `SELECT ON TABLE ${table}`))(quotedName(denied.name))];
  }
  const [, global] = OF_MYSQL.exec(message) ?? [];
  if (global !== undefined) return [`${global.split(',')[0]?.trim()} ON *.*`];
  const [, command, schema, table] = COMMAND.exec(message) ?? [];
  if (command === undefined || schema === undefined || table === undefined) return [];
  return [`${command} ON ${quoted(schema, table)}`];
}
