import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import mysql, { type FieldPacket, type QueryError, type TypeCastField } from 'mysql2';
import type { Row } from '../../checks/fault.ts';
import { MOST_ROWS, type OwnAnswer } from '../../checks/own/own-rows.ts';
import { asSubquery } from '../../checks/own/own-statement.ts';
import { quotedUnlessPlain } from '../../platform/text/clean-text.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import {
  assertWired,
  speakTls,
  type Wired,
  watchLength,
  watchPackets,
} from '../../platform/unsafe/mysql-wire.ts';
import type { Limits } from '../limits.ts';
import { authPlugins } from './mysql-login.ts';
import {
  answerWithin,
  type Deadline,
  guard,
  KEEP_ALIVE_MS,
  LoginRefused,
  metered,
  type OpenedSession,
  type Route,
  rolledBack,
  type Target,
} from './session.ts';
import { tlsOptions } from './tls-options.ts';

// Settings of every session, whatever the server's defaults are and init_connect did. A session that is idle or unread for longer
// than that belongs to a monitor that died.
const sharedSettings = (idleMs: number) => `
  autocommit                  = 1,
  lock_wait_timeout           = 2,
  innodb_lock_wait_timeout    = 2,
  sql_mode                    = '',
  time_zone                   = '+00:00',
  group_concat_max_len        = 1048576,
  lc_time_names               = 'en_US',
  div_precision_increment     = 4,
  sql_select_limit            = 18446744073709551615,
  max_join_size               = 18446744073709551615,
  sql_big_selects             = 1,
  sql_safe_updates            = 0,
  wait_timeout                = ${Math.ceil(idleMs / 1_000)},
  net_read_timeout            = 30,
  net_write_timeout           = 30`;

// MySQL counts milliseconds and limits only SELECT; `answerMs` ends other statements. With
// the default `information_schema_stats_expiry`, MySQL would return table statistics that are a day old. From 8.0.30 on
// it may hide primary keys that it generated.
const setUp = {
  mysql: ({
    statementMs,
    idleMs,
  }: Limits) => `set names utf8mb4, session transaction_read_only = 1, transaction_isolation = 'REPEATABLE-READ', max_execution_time = ${statementMs}, information_schema_stats_expiry = 0,
    /*!80030 show_gipk_in_create_table_and_information_schema = 1, */ ${sharedSettings(idleMs)}`,
  mariadb: ({ statementMs, idleMs }: Limits) =>
    `set names utf8mb4, session tx_read_only = 1, tx_isolation = 'REPEATABLE-READ', max_statement_time = ${statementMs / 1_000}, in_predicate_conversion_threshold = 0, ${sharedSettings(idleMs)}`,
};

// One row more than a member's statement may give.
const BEGIN_OWN = [`set sql_select_limit = ${MOST_ROWS + 1}`, 'start transaction read only'];

/**
 * Connects to `database` ('' = none) of a target over the route, and makes the session READ ONLY. Destroys the stream
 * when `connecting` aborts before that is done, or `signal` at any time. Throws the error, with the server's `errno`
 * if it answered.
 */
export async function openMysqlSession(
  target: Target,
  database: string,
  route: Route,
  { connecting, signal }: Deadline,
): Promise<OpenedSession> {
  const whileConnecting = AbortSignal.any([connecting, signal]);
  whileConnecting.throwIfAborted();
  const { stream, host, port, meter, limits } = route;
  const { connection, nextStatement } = createClient(target, database, route);
  let lost = false;
  connection.on('error', () => {
    lost = true; // the pending call throws it
  });
  const destroy = (reason: Error) => {
    for (const each of [connection.stream, stream]) each.destroy(reason);
  };
  const isLost = () => lost || stream.destroyed;
  const patience = answerWithin({ answerMs: limits.answerMs, signal, isLost, destroy });
  const answerTo = <T>(ask: () => Promise<T>) =>
    patience(() => {
      nextStatement();
      return ask();
    });
  const answer = (statement: string) => answerTo(() => rowsOf(connection, statement));
  const giveUp = () => destroy(whileConnecting.reason);
  whileConnecting.addEventListener('abort', giveUp);
  try {
    connectStream(stream, target, host, port);
    const serverVersion = await waitForLogin(connection);
    await answer(/mariadb/i.test(serverVersion) ? setUp.mariadb(limits) : setUp.mysql(limits));
  } catch (error) {
    destroy(new Error('not connected'));
    throw whileConnecting.aborted ? whileConnecting.reason : loginError(error);
  } finally {
    whileConnecting.removeEventListener('abort', giveUp);
  }

  const stop = () => destroy(signal.reason);
  signal.addEventListener('abort', stop);
  return {
    tls: connection.stream instanceof TLSSocket ? connection.stream.getProtocol() : null,
    isLost,
    read: (statement) => metered(meter, () => answer(statement)),
    readOwn(statement) {
      const ask = () => answerTo(() => ownAnswerOf(connection, asSubquery(statement)));
      return rolledBack(meter, answer, BEGIN_OWN, ask);
    },
    async close() {
      signal.removeEventListener('abort', stop);
      if (!lost && !stream.destroyed) await quit(connection, stream);
      destroy(new Error('closed'));
    },
  };
}

/** A client that speaks over the stream of a route, which is not connected yet. Call `nextStatement` before each statement. */
function createClient(
  target: Target,
  database: string,
  { stream, host, port, meter, limits }: Route,
): { connection: Wired; nextStatement: () => void } {
  const tls = tlsOptions(target);
  guard(stream, meter, limits.runBytes);
  const connection = mysql.createConnection({
    host,
    port,
    database,
    user: target.username,
    password: target.password ?? '',
    authPlugins: authPlugins(target),
    ...(tls && { ssl: {} }),
    stream: () => stream,
    connectTimeout: 0, // `connecting` limits the time
    charset: 'utf8mb4_general_ci',
    flags: ['-LOCAL_FILES', '-MULTI_RESULTS', '-SESSION_TRACK', '-CLIENT_QUERY_ATTRIBUTES'],
    // Throwing ends the connection. Without this option mysql2 would send an empty file.
    infileStreamFactory: () => {
      throw new OwnWords('the server asks for a local file (LOCAL INFILE)');
    },
    disableEval: true, // the server names the columns
    queryFormat: (statement) => statement,
  });
  assertWired(connection);
  connection.config.connectAttributes = { program_name: 'dbvitals' };
  const nextStatement = watchPackets(connection);
  watchLength(connection, stream);
  // With TLS, the bytes of a socket are counted here. Those of a tunnel are already counted.
  const counter = stream instanceof Socket ? meter : null;
  if (tls) speakTls(connection, host, tls, (secure) => guard(secure, counter, limits.runBytes));
  return { connection, nextStatement };
}

// mysql2 does not connect a stream that is passed to it.
function connectStream(stream: Route['stream'], target: Target, host: string, port: number): void {
  if (!('connect' in stream) || typeof stream.connect !== 'function')
    throw new Error('the stream of a route must be connectable');
  if (stream instanceof Socket) stream.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
  if (target.connectionType === 'unix_socket') stream.connect(host);
  else stream.connect(port, host);
}

/** Waits for the login; returns the version from the server's greeting. */
function waitForLogin(connection: Wired): Promise<string> {
  return new Promise((resolve, reject) => {
    connection.once('connect', ({ serverVersion }: { serverVersion: string }) => resolve(serverVersion));
    connection.once('error', reject);
  });
}

// mysql2 reports an unknown plugin only in the text of its message.
function loginError(error: unknown): unknown {
  const [, plugin] =
    /using unknown plugin (.*?)\. See /s.exec(error instanceof Error ? error.message : '') ?? [];
  if (plugin === undefined) return error;
  const name = quotedUnlessPlain(plugin || 'mysql_old_password', 40);
  return new LoginRefused(
    `the server asks for the login plugin ${name}, which is not supported`,
    'Give the login an authentication plugin that is supported, such as caching_sha2_password on MySQL or ed25519 on MariaDB (ALTER USER … IDENTIFIED …).',
  );
}

function rowsOf(connection: Wired, statement: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const answered = (error: QueryError | null, rows: mysql.RowDataPacket[]) =>
      error ? reject(error) : resolve(Array.isArray(rows) ? rows : []);
    let sets = 0;
    connection
      .query<mysql.RowDataPacket[]>({ sql: statement, typeCast: plain }, answered)
      .on('fields', (_: FieldPacket[]) => {
        if (++sets > 1) throw new OwnWords('the server sent more than one result set');
      });
  });
}

/** The answer to the statement of a member, with its values as text. */
function ownAnswerOf(connection: Wired, sql: string): Promise<OwnAnswer> {
  return new Promise((resolve, reject) => {
    const typeCast = (field: TypeCastField) => field.string('utf8');
    let sets = 0;
    connection
      .query<mysql.RowDataPacket[]>({ sql, typeCast, rowsAsArray: true }, (error, rows, fields) => {
        if (error) return reject(error);
        // A statement that gives no rows has no columns either.
        if (!Array.isArray(rows) || !Array.isArray(fields)) return resolve({ columns: [], rows: [] });
        // With rowsAsArray, a row is an array of what typeCast returns.
        resolve({ columns: fields.map(toColumn), rows: rows as unknown as OwnAnswer['rows'] });
      })
      .on('fields', () => {
        if (++sets > 1) throw new OwnWords('the server sent more than one result set');
      });
  });
}

// TINY, SHORT, INT24, LONG, LONGLONG, FLOAT, DOUBLE, DECIMAL, NEWDECIMAL.
const NUMBER_CODES = new Set([1, 2, 9, 3, 8, 4, 5, 0, 246]);

function toColumn({ name, columnType = -1 }: FieldPacket): OwnAnswer['columns'][number] {
  return { name, isNumber: NUMBER_CODES.has(columnType) };
}

const NUMBERS = new Set('TINY SHORT INT24 LONG YEAR FLOAT DOUBLE DECIMAL NEWDECIMAL'.split(' '));

// MySQL declares many text columns of information_schema as binary.
function plain(field: TypeCastField): string | number | null {
  const text = field.string('utf8');
  if (text === null) return null;
  if (NUMBERS.has(field.type)) return Number(text);
  return field.type === 'LONGLONG' && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** Ends the session properly, for a second at most: the server counts a connection that just closes as aborted. */
function quit(connection: Wired, stream: Route['stream']): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 1_000);
    stream.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    connection.end();
  });
}
