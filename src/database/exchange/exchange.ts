import { hash } from 'node:crypto';
import pg from 'pg';

/** A statement of an {@link Exchange}. Its values are null, texts, numbers and booleans. */
export interface Statement {
  text: string;
  values: readonly unknown[];
  /** A statement that returns no rows need not describe them. */
  returnsRows: boolean;
}

/** The parts of pg's connection that an exchange writes to. */
interface Wire {
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly unknown[]; valueMapper: typeof asText }): void;
  describe(message: { type: 'P' }): void;
  execute(message: object): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
  stream: { cork(): void; uncork(): void };
}

interface Result {
  rows: unknown[];
}

// The statements that each connection has prepared, by name.
const prepared = new WeakMap<object, Set<string>>();

// Connections to a pooler that keeps no named statements for its clients.
const nameless = new WeakSet<object>();

const names = new Map<string, string>();

/**
 * Statements in one round trip and one transaction: all are sent before the first answer arrives, with one Sync at the end.
 * PostgreSQL commits there, or rolls back after an error, so a failed exchange leaves no transaction open
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING).
 *
 * Where the connection keeps them, statements are named, so that it parses and plans each of them once. A name follows from
 * the text, so it can't mean another statement.
 */
class Exchange extends pg.Query {
  constructor(statements: readonly Statement[]) {
    super('');
    // pg's types declare `submit` as a property.
    this.submit = (connection) => {
      send(connection as unknown as Wire, statements);
      return null; // pg expects an error or null
    };
  }
}

/** Runs statements in one {@link Exchange}, and returns the rows of each. Throws the first error; the others then had no effect. */
export async function exchange(
  client: pg.ClientBase,
  statements: readonly Statement[],
): Promise<unknown[][]> {
  const { promise, resolve, reject } = Promise.withResolvers<Result | Result[]>();
  const settle = (error: Error | null, results: Result | Result[]) => {
    if (error) reject(error);
    else resolve(results);
  };
  Reflect.apply(client.query, client, [new Exchange(statements), settle]);
  try {
    return [await promise].flat().map(({ rows }) => rows);
  } catch (error) {
    // Which statements are prepared is unknown now, or they are outdated: a migration changed their columns.
    prepared.delete(wireOf(client));
    throw error;
  }
}

/** Stops using named statements on a connection: it belongs to a pooler that does not keep them. */
export function useNoNames(client: pg.ClientBase): void {
  nameless.add(wireOf(client));
}

function wireOf(client: pg.ClientBase): object {
  return (client as unknown as { connection: object }).connection;
}

function send(wire: Wire, statements: readonly Statement[]): void {
  const known = prepared.get(wire) ?? new Set<string>();
  prepared.set(wire, known);
  wire.stream.cork();
  try {
    for (const { text, values, returnsRows } of statements) {
      const name = nameless.has(wire) ? '' : nameOf(text);
      if (name === '' || !known.has(name)) {
        // After an error it may be prepared all the same. Closing a name that does not exist is no error.
        if (name !== '') wire.close({ type: 'S', name });
        wire.parse({ name, text });
        known.add(name);
      }
      wire.bind({ statement: name, values, valueMapper: asText });
      if (returnsRows) wire.describe({ type: 'P' });
      wire.execute({});
    }
    wire.sync();
  } finally {
    wire.stream.uncork();
  }
}

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `read_${hash('sha256', text, 'hex').slice(0, 32)}`;
  names.set(text, name);
  return name;
}

function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') throw new TypeError('an exchange takes no dates, arrays or objects');
  return String(value);
}
