import pg from 'pg';
import type { Row } from '../../checks/fault.ts';
import type { OwnAnswer } from '../../checks/own/own-rows.ts';
import { asSubquery } from '../../checks/own/own-statement.ts';
import { ConnectRefused } from './connect-refused.ts';
import { isUnconvertible, refusalOf } from './failures/connect-failure.ts';
import { KeptPlans } from './postgres/kept-plans.ts';
import { openClient } from './postgres/open-client.ts';
import { differingSettings, setOwn } from './postgres/own-settings.ts';
import {
  type Deadline,
  metered,
  NoAnswer,
  type OpenedSession,
  type Route,
  rolledBack,
  StatementCancelled,
  type Target,
} from './session.ts';

// Sent with the statement in one round trip. With three round trips for each of 60 checks, most of a run's time was
// network latency.
const beginReading = (statementMs: number) => `
  begin isolation level read committed, read only, not deferrable;
  set local statement_timeout = ${statementMs};
  set local lock_timeout = '100ms';
  set local idle_in_transaction_session_timeout = '10s';
  set local search_path = pg_catalog;
`;

// A function that catches `query_canceled` outlasts the timeout, and would stay on the server when its client has left: one more after each run. Only
// on Linux the server can be asked to look for its client while it works.
const LOOK_FOR_CLIENT = `
  select pg_catalog.set_config(name, '1s', true)
    from pg_catalog.pg_settings
   where name operator(pg_catalog.=) 'client_connection_check_interval'
     and pg_catalog.version() operator(pg_catalog.~~) '%linux%';
`;

// The login's own search_path stays: a member writes the statement as in psql.
const beginOwn = (statementMs: number) => `
  begin isolation level read committed, read only, not deferrable;
  set local statement_timeout = ${statementMs};
  set local lock_timeout = '100ms';
  set local idle_in_transaction_session_timeout = '10s';
  set local standard_conforming_strings = on;
  ${LOOK_FOR_CLIENT}`;

const IS_CONSOLE = 'it is the admin console of PgBouncer, not a database';
const USE_ITS_ENGINE =
  'Add it with a URL that begins with pgbouncer://, or name a database of a server instead of pgbouncer.';

// A name that the server can't convert to UTF-8 must not cost a check: its bytes come as they are.
const AS_BYTES = "set local client_encoding = 'SQL_ASCII';";

// A statement about settings must see those of the server.
const ABOUT_SETTINGS = /\bpg_settings\b/;

/**
 * Connects to `database` of a target over the route. Destroys the stream when `connecting` aborts before the login is
 * done, or `signal` at any time. Throws the error, with the server's SQLSTATE as `code` if it answered.
 */
export async function openPostgresSession(
  target: Target,
  database: string,
  route: Route,
  deadline: Deadline,
): Promise<OpenedSession> {
  const { client, tls, isConsole, isLost, answerTo, close } = await openClient(
    target,
    database,
    route,
    deadline,
  );
  if (isConsole) {
    await close();
    throw new ConnectRefused(IS_CONSOLE, USE_ITS_ENGINE);
  }
  const { meter, limits } = route;
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
    tls,
    isLost,
    async read(text, { isRepeated = false } = {}) {
      const statement = text.trim().replace(/;$/, '');
      own ??= await readIn(differingSettings).then(setOwn, (error: unknown) => {
        if (error instanceof NoAnswer) throw error;
        return setOwn([]);
      });
      const settings = ABOUT_SETTINGS.test(statement) ? own.formats : own.all;
      const readWith = (all: string) =>
        isRepeated ? plans.read(all, statement) : readIn(`${all}${statement}`);
      const ask = () => convertedOrBytes(readWith, settings);
      return metered(meter, () => noteCancel(limits.statementMs, ask));
    },
    async readOwn(statement) {
      const ask = () => answerTo(() => client.query(alone(asSubquery(statement))));
      const askInTime = () => noteCancel(limits.statementMs, ask);
      return toOwnAnswer(await rolledBack(meter, answer, [beginOwn(limits.statementMs)], askInTime));
    },
    close,
  };
}

/** Asks, and tells a statement that somebody cancelled from one whose time was over: the server's words depend on its language. */
async function noteCancel<T>(statementMs: number, ask: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await ask();
  } catch (error) {
    const isEarly = performance.now() - began < 0.9 * statementMs;
    throw isEarly && refusalOf(error) === 'timeout' ? new StatementCancelled() : error;
  }
}

/** Reads with the settings, and once more as bytes if the server can't convert a name. */
async function convertedOrBytes(
  read: (settings: string) => Promise<Row[]>,
  settings: string,
): Promise<Row[]> {
  try {
    return await read(settings);
  } catch (error) {
    if (!isUnconvertible(error)) throw error;
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
