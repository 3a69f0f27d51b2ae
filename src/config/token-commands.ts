import { statSync } from 'node:fs';
import { isErrno } from './config-error.ts';
import { readTextFile } from './text-file.ts';

/** A command that prints a token, which a connection uses as its password. */
export interface TokenCommand {
  /** The program and its arguments. `{host}`, `{port}` and `{username}` stand for those of the connection. */
  readonly command: readonly string[];
  /** The only hosts that the token is sent to: names, or `*.example.com` for all below a domain. */
  readonly hosts: readonly string[];
}

/** Names that connections refer to → commands. Only the operator writes them, in a file. */
export type TokenCommands = Readonly<Record<string, TokenCommand>>;

const NAME = 'DBVITALS_TOKEN_COMMANDS_FILE';
const OTHERS_MAY_WRITE = 0o022;

/**
 * Reads the file of DBVITALS_TOKEN_COMMANDS_FILE: a JSON object of {@link TokenCommands}. Throws a sentence if it is not, or
 * if another user could change it, because the service runs what it says.
 */
export function readTokenCommands(path: string): TokenCommands {
  let text: string;
  try {
    if ((statSync(path).mode & OTHERS_MAY_WRITE) !== 0)
      throw new Error(`${NAME}: other users can write ${path}; remove their permission with "chmod go-w".`);
    text = readTextFile(path);
  } catch (error) {
    if (!isErrno(error)) throw error;
    throw new Error(`${NAME} cannot be read (${error.code}): name a readable file.`);
  }
  return Object.freeze(
    Object.fromEntries(Object.entries(parse(text)).map(([name, one]) => [name, command(name, one)])),
  );
}

function parse(text: string): object {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return parsed;
  } catch {}
  throw new Error(
    `${NAME} must contain a JSON object: names of token sources, each with "command" and "hosts".`,
  );
}

function command(name: string, value: unknown): TokenCommand {
  const { command, hosts, ...more } = (value ?? {}) as Record<string, unknown>;
  if (!/^[\w.-]{1,60}$/.test(name))
    throw new Error(
      `${NAME}: a token source has a name of 1 to 60 letters, digits, dots, hyphens and underscores.`,
    );
  if (!isTexts(command) || !isTexts(hosts) || Object.keys(more).length > 0)
    throw new Error(
      `${NAME}: "${name}" must have exactly "command", a list of the program and its arguments, and "hosts", a list of names such as "*.rds.amazonaws.com".`,
    );
  return Object.freeze({ command: Object.freeze(command), hosts: Object.freeze(hosts) });
}

function isTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '')
  );
}
