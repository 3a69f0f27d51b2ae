import { hash } from 'node:crypto';
import pg from 'pg';

/** A statement of an {@link Exchange}. Its values are null, texts, numbers, booleans, dates of the years 1 to 9999, and arrays of them. */
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

/** A column as PostgreSQL describes it. */
interface Column {
  name: string;
  dataTypeID: number;
}

/** Makes a row of its columns' texts. */
type ParseRow = (texts: readonly (string | null)[]) => Record<string, unknown>;

/** What is known about a connection's named statements. */
interface Names {
  /**
   * Those that it has prepared, with what parses their rows: the columns of a statement are described once. Null = not
   * described yet.
   */
  known: Map<string, ParseRow | null>;
  exchanges: number;
  /** How many exchanges found that a server connection had not prepared a statement. */
  misses: number;
}

const ofConnection = new WeakMap<pg.ClientBase, Names>();

// A pooler that drops statements after each transaction makes every exchange miss. Then names cost more than they save, and
// are tried again now and then.
const FIRST_MISSES = 20;
const MOST_MISSES = 0.05;

const nameOfText = new Map<string, string>();

/**
 * Statements in one round trip and one transaction: all are sent before the first answer arrives, with one Sync at the end.
 * PostgreSQL commits there, or rolls back after an error, so a failed exchange leaves no transaction open
 * (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING).
 *
 * Statements are named, so that a connection parses and plans each of them once. A name follows from the text, so it can't
 * mean another statement, no matter who prepared it. That matters behind a pooler, whose clients share server connections
 * (docs/decisions/0005).
 *
 * Why: each query of pg ends with a Sync of its own, so a read takes four of them. An exchange makes an answer of the statistics
 * three times, and an empty page of the log 2.8 times as cheap (docs/decisions/0006). {@link exchangePlainly} is the plain way.
 */
class Exchange extends pg.Query {
  declare callback: (error: unknown, rows?: unknown[][]) => void;
  readonly #sent: { name: string; parse: ParseRow | null; rows: unknown[] }[] = [];
  readonly #names: Names;
  /** The index of the statement whose answer arrives. */
  #arriving = 0;
  #failed: unknown;

  constructor(statements: readonly Statement[], names: Names) {
    super('');
    this.#names = names;
    // pg's types declare `submit` as a property.
    this.submit = (connection) => {
      this.#send(connection as unknown as Wire, statements);
      return null; // pg expects an error or null
    };
  }

  #send(wire: Wire, statements: readonly Statement[]): void {
    this.#names.exchanges += 1;
    const { known, exchanges, misses } = this.#names;
    const isNamed = misses < FIRST_MISSES || misses < exchanges * MOST_MISSES;
    wire.stream.cork();
    try {
      for (const { text, values, returnsRows } of statements) {
        const name = isNamed ? nameOf(text) : '';
        if (!isNamed) {
          wire.parse({ name, text });
        } else if (!known.has(name)) {
          // It may be prepared all the same: after an error, or by another client of a pooler. Closing an unknown name is no error.
          wire.close({ type: 'S', name });
          wire.parse({ name, text });
          known.set(name, null);
        }
        const parse = known.get(name) ?? null;
        wire.bind({ statement: name, values, valueMapper: asText });
        if (returnsRows && !parse) wire.describe({ type: 'P' });
        wire.execute({});
        this.#sent.push({ name, parse, rows: [] });
      }
      wire.sync();
    } finally {
      wire.stream.uncork();
    }
  }

  handleRowDescription({ fields }: { fields: readonly Column[] }): void {
    const statement = this.#sent[this.#arriving];
    if (!statement) return;
    statement.parse = parserOf(fields);
    if (statement.name !== '') this.#names.known.set(statement.name, statement.parse);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const statement = this.#sent[this.#arriving];
    try {
      if (statement?.parse) statement.rows.push(statement.parse(fields));
    } catch (error) {
      this.#failed = error;
    }
  }

  handleCommandComplete(): void {
    this.#arriving += 1;
  }

  handleReadyForQuery(): void {
    if (this.#failed === undefined)
      this.callback(
        null,
        this.#sent.map(({ rows }) => rows),
      );
    else this.callback(this.#failed);
  }
}

/**
 * Runs statements in one {@link Exchange}, and returns the rows of each. Throws the first error; the others then had no effect.
 * If a prepared statement is missing or outdated, all are prepared and run again. With a pg that lacks what an exchange needs,
 * it is {@link exchangePlainly}.
 */
export async function exchange(
  client: pg.ClientBase,
  statements: readonly Statement[],
): Promise<unknown[][]> {
  if (!canExchange(client)) return exchangePlainly(client, statements);
  const names = namesOf(client);
  try {
    return await run(client, statements, names);
  } catch (error) {
    // Which statements are prepared is unknown now.
    names.known.clear();
    if (!isStale(error)) throw error;
    names.misses += 1;
    return run(client, statements, names);
  }
}

/**
 * Runs exchanges of one client, which are sent together: each is a transaction of its own, and fails alone. With a pg that lacks what
 * they need, one after the other.
 */
export async function exchangeAll(
  client: pg.ClientBase,
  exchanges: readonly (readonly Statement[])[],
): Promise<PromiseSettledResult<unknown[][]>[]> {
  if (!canExchange(client)) {
    const results: PromiseSettledResult<unknown[][]>[] = [];
    for (const statements of exchanges)
      results.push(...(await Promise.allSettled([exchangePlainly(client, statements)])));
    return results;
  }
  const { stream } = Reflect.get(client, 'connection') as Wire;
  stream.cork();
  const sent = exchanges.map((statements) => exchange(client, statements));
  stream.uncork();
  return Promise.allSettled(sent);
}

/** The same in the documented way: a transaction, with a round trip for each statement. */
export async function exchangePlainly(
  client: pg.ClientBase,
  statements: readonly Statement[],
): Promise<unknown[][]> {
  await client.query('begin');
  try {
    const results: unknown[][] = [];
    for (const { text, values } of statements) results.push((await client.query(text, [...values])).rows);
    await client.query('commit');
    return results;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

const WIRE = ['parse', 'bind', 'describe', 'execute', 'close', 'sync'];

/** Whether this pg has the parts that an exchange uses. */
export function canExchange(client: object): boolean {
  const connection: unknown = Reflect.get(client, 'connection');
  return (
    typeof connection === 'object' &&
    connection !== null &&
    WIRE.every((name) => typeof Reflect.get(connection, name) === 'function') &&
    typeof pg.Query === 'function'
  );
}

/** Prepares all statements of a connection again when they are used next. */
export function forgetNames(client: pg.ClientBase): void {
  namesOf(client).known.clear();
}

/**
 * Whether PgBouncer ended the connection because it has not seen a statement being prepared: it was just configured to keep
 * statements for its clients. The exchange did not run.
 */
export function isEndedByPooler(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '08P01' && error.severity === 'FATAL';
}

/** Whether a statement failed before it ran, because its server connection has not prepared it, or before a migration. */
export function isStale(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  return error.code === '26000' || error.routine === 'RevalidateCachedQuery';
}

function run(client: pg.ClientBase, statements: readonly Statement[], names: Names): Promise<unknown[][]> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown[][]>();
  const settle = (error: Error | null, rows: unknown[][]) => {
    if (error) reject(error);
    else resolve(rows);
  };
  Reflect.apply(client.query, client, [new Exchange(statements, names), settle]);
  return promise;
}

function namesOf(client: pg.ClientBase): Names {
  const names = ofConnection.get(client) ?? { known: new Map(), exchanges: 0, misses: 0 };
  ofConnection.set(client, names);
  return names;
}

function parserOf(columns: readonly Column[]): ParseRow {
  const parsers = columns.map(({ name, dataTypeID }) => ({
    name,
    parse: pg.types.getTypeParser(dataTypeID, 'text') as (text: string) => unknown,
  }));
  // A copy has its properties already, so that rows have one shape.
  const empty = Object.fromEntries(columns.map(({ name }) => [name, null as unknown]));
  return (texts) => {
    const row = { ...empty };
    parsers.forEach(({ name, parse }, at) => {
      const text = texts[at] ?? null;
      if (text !== null) row[name] = parse(text);
    });
    return row;
  };
}

function nameOf(text: string): string {
  const known = nameOfText.get(text);
  if (known !== undefined) return known;
  const name = `read_${hash('sha256', text, 'hex').slice(0, 32)}`;
  nameOfText.set(text, name);
  return name;
}

function asText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value !== 'object') return String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return `{${value.map(asElement).join()}}`;
  throw new TypeError('an exchange takes no objects');
}

/** An element in PostgreSQL's text of an array. */
function asElement(value: unknown): string {
  const text = asText(value);
  return text === null ? 'null' : `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}
