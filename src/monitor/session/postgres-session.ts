import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import type { Row } from '../../checks/fault.ts';
import type { OwnAnswer } from '../../checks/own/own-rows.ts';
import { asSubquery } from '../../checks/own/own-statement.ts';
import { requireServerSignature, UNPROVED } from '../../platform/unsafe/server-signature.ts';
import { describeError } from './failures/connect-failure.ts';
import { KeptPlans } from './postgres/kept-plans.ts';
import { differingSettings, setOwn } from './postgres/own-settings.ts';
import {
  answerWithin,
  type Deadline,
  guard,
  HashingRefused,
  isVerifiedToken,
  LoginRefused,
  NoAnswer,
  type OpenedSession,
  PasswordRefused,
  type Route,
  rolledBack,
  type Target,
} from './session.ts';
import { tlsOptions } from './tls-options.ts';

// Sent with the statement in one round trip. With three round trips for each of 60 checks, most of a run's time was
// network latency.
const beginReading = (statementMs: number) => `
  begin isolation level read committed, read only, not deferrable;
  set local statement_timeout = ${statementMs};
  set local lock_timeout = '100ms';
  set local idle_in_transaction_session_timeout = '10s';
  set local search_path = pg_catalog;
`;

// The login's own search_path stays: a member writes the statement as in psql.
const beginOwn = (statementMs: number) => `
  begin isolation level read committed, read only, not deferrable;
  set local statement_timeout = ${statementMs};
  set local lock_timeout = '100ms';
  set local idle_in_transaction_session_timeout = '10s';
  set local standard_conforming_strings = on;
`;

// A name that the server can't convert to UTF-8 must not cost a check: its bytes come as they are. SQLSTATEs.
const UNCONVERTIBLE = new Set(['22021', '22P05']);
const AS_BYTES = "set local client_encoding = 'SQL_ASCII';";

// A statement about settings must see those of the server.
const ABOUT_SETTINGS = /\bpg_settings\b/;

// PostgreSQL's own default is 4,096; a million takes a second of one core.
const SCRAM_ITERATIONS = 1_000_000;

/**
 * Connects to `database` of a target over the route. Destroys the stream when `connecting` aborts before the login is
 * done, or `signal` at any time. Throws the error, with the server's SQLSTATE as `code` if it answered.
 */
export async function openPostgresSession(
  target: Target,
  database: string,
  { stream, host, port, meter, limits }: Route,
  { connecting, signal }: Deadline,
): Promise<OpenedSession> {
  const client: pg.Client & { processID?: number } = new pg.Client({
    host,
    port,
    database,
    user: target.username,
    // A function: without a password, pg would look in the environment and in ~/.pgpass.
    password: () => target.password ?? '',
    ssl: tlsOptions(target) ?? false,
    application_name: 'dbvitals',
    keepAlive: true,
    stream: () => stream,
  });
  let lost = false;
  client.on('error', () => {
    lost = true; // the pending call throws it
  });
  const { connection } = client;
  guard(stream, meter, limits.runBytes);
  // With TLS, the bytes of a socket are counted here. Those of a tunnel are already counted.
  const counter = stream instanceof Socket ? meter : null;
  connection.on('sslconnect', () => guard(connection.stream, counter, limits.runBytes));
  // These listeners run before pg's own, which would answer.
  if (!target.passwordExposable) {
    // With verify-full, nothing but the request for TLS is sent before the certificate is verified.
    if (!isVerifiedToken(target)) connection.on('authenticationCleartextPassword', refusePassword);
    connection.on('authenticationMD5Password', refusePassword);
  }
  connection.on('authenticationSASLContinue', refuseHashing);
  requireServerSignature(client, refuseUnproved);

  const destroy = (reason: Error) => {
    connection.stream.destroy(reason);
    stream.destroy();
  };
  const whileConnecting = AbortSignal.any([connecting, signal]);
  const giveUp = () => destroy(whileConnecting.reason);
  whileConnecting.addEventListener('abort', giveUp);
  try {
    whileConnecting.throwIfAborted();
    await client.connect();
  } catch (error) {
    destroy(new Error('not connected'));
    throw whileConnecting.aborted ? whileConnecting.reason : error;
  } finally {
    whileConnecting.removeEventListener('abort', giveUp);
  }

  const stop = () => destroy(signal.reason);
  signal.addEventListener('abort', stop);
  const patience = { answerMs: limits.answerMs, signal, isLost: () => lost, destroy };
  const answerTo = answerWithin(patience);
  const answer = (statement: string) => answerTo(() => client.query(statement));
  const readIn = async (statements: string) => {
    try {
      return measuredRows(await answer(`${beginReading(limits.statementMs)}${statements}\n;commit`));
    } catch (error) {
      await answer('rollback').catch(() => {}); // report the statement's own error
      throw error;
    }
  };
  const plans = new KeptPlans(readIn, answer, client.processID);
  let own: ReturnType<typeof setOwn> | null = null;
  return {
    tls: connection.stream instanceof TLSSocket ? connection.stream.getProtocol() : null,
    async read(text, { isRepeated = false } = {}) {
      const statement = text.trim().replace(/;$/, '');
      own ??= await readIn(differingSettings).then(setOwn, (error: unknown) => {
        if (error instanceof NoAnswer) throw error;
        return setOwn([]);
      });
      const settings = ABOUT_SETTINGS.test(statement) ? own.formats : own.all;
      const began = performance.now();
      meter.statements++;
      const readWith = (all: string) =>
        isRepeated ? plans.read(all, statement) : readIn(`${all}${statement}`);
      try {
        return await convertedOrBytes(readWith, settings);
      } finally {
        meter.milliseconds += performance.now() - began;
      }
    },
    async readOwn(statement) {
      const ask = () => answerTo(() => client.query(alone(asSubquery(statement))));
      return toOwnAnswer(await rolledBack(meter, answer, [beginOwn(limits.statementMs)], ask));
    },
    async close() {
      signal.removeEventListener('abort', stop);
      const timer = setTimeout(() => destroy(new Error('not closed')), 1_000);
      await client.end().catch(() => {});
      clearTimeout(timer);
      stream.destroy();
    },
  };
}

/** Reads with the settings, and once more as bytes if the server can't convert a name. */
async function convertedOrBytes(
  read: (settings: string) => Promise<Row[]>,
  settings: string,
): Promise<Row[]> {
  try {
    return await read(settings);
  } catch (error) {
    if (!UNCONVERTIBLE.has(describeError(error).code)) throw error;
    return await read(settings + AS_BYTES);
  }
}

// For several statements in one message, pg returns a list of results. The last one is that of `commit`.
function measuredRows(results: unknown): Row[] {
  const measured: unknown = Array.isArray(results) ? results.at(-2) : null;
  return measured instanceof pg.Result ? measured.rows : [];
}

/** A statement in the extended protocol, in which the server accepts one only, with its values as text. */
function alone(text: string): pg.QueryArrayConfig & { queryMode: 'extended' } {
  const types = { getTypeParser: () => String };
  return { text, rowMode: 'array', queryMode: 'extended', types };
}

// int8, int2, int4, float4, float8, numeric.
const NUMBER_TYPES = new Set([20, 21, 23, 700, 701, 1700]);

function toOwnAnswer({ fields, rows }: pg.QueryArrayResult<(string | null)[]>): OwnAnswer {
  const columns = fields.map(({ name, dataTypeID }) => ({ name, isNumber: NUMBER_TYPES.has(dataTypeID) }));
  return { columns, rows };
}

function refusePassword(): never {
  throw new PasswordRefused(
    'the server asks for the password in clear text or as MD5',
    "Let the server ask for SCRAM: set password_encryption = 'scram-sha-256', set the password of the login again, and use scram-sha-256 in pg_hba.conf.",
  );
}

function refuseUnproved(): never {
  throw new LoginRefused(
    UNPROVED,
    "Check that the address is your server's and that nothing answers in its place. Use the TLS mode verify-full.",
  );
}

function refuseHashing({ data }: { data: string }): void {
  const iterations = /(?:^|,)i=(\d+)/.exec(data)?.[1] ?? '0';
  if (Number(iterations) > SCRAM_ITERATIONS)
    throw new HashingRefused(
      `the server asks for more than ${SCRAM_ITERATIONS} hashing iterations (SCRAM)`,
      `Set scram_iterations to at most ${SCRAM_ITERATIONS} on the server, and set the password of the login again. If you did not raise it, check that the address is your server's.`,
    );
}
