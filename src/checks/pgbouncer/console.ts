import { isPrintable } from '../../platform/text/clean-text.ts';
import type { Row } from '../fault.ts';
import { quotedName } from '../postgres/server-texts.ts';

// The admin console knows no SQL: each statement is one command, whose columns differ by version. So columns are read by name.

/** The pools: of each database and user, how many clients and servers are in which state. */
export const POOLS = 'show pools';
/** The databases of the configuration, and those that clients made by a fallback (`* =`). */
export const DATABASES = 'show databases';
/** The users, with pool sizes of their own since 1.24. */
export const USERS = 'show users';
/** The settings. */
export const CONFIG = 'show config';
/** How many clients and servers there are. */
export const LISTS = 'show lists';
/** What each database has done since the start. */
export const STATS = 'show stats';

/** The database of the console itself. */
const CONSOLE = 'pgbouncer';

/** Where a server connection of a pool counts, in all versions; columns that a version lacks count as 0. */
const SERVERS = ['sv_active', 'sv_active_cancel', 'sv_being_canceled', 'sv_idle', 'sv_used', 'sv_tested'];

/** A pool: the connections of one user to one database. */
export interface Pool {
  database: string;
  user: string;
  /** As a finding names it: `shop/app`. */
  object: string;
  /** Clients that wait for a server connection. */
  waiting: number;
  /** How long the first of them has waited, in seconds; 0 while it waits to log in. */
  waitSeconds: number;
  /** Clients that do not wait. */
  clients: number;
  /** Server connections that a client uses. */
  active: number;
  /** Server connections that are logged in. */
  established: number;
  /** Server connections that are being made. */
  login: number;
}

/** A database as PgBouncer has it. */
export interface PooledDatabase {
  name: string;
  /** Null = a Unix socket in the default folder. */
  host: string | null;
  port: number;
  poolSize: number;
  reserve: number;
  /** The most server connections, and how many there are; 0 = no limit. */
  limit: number;
  connections: number;
  /** The most clients since 1.24, and how many there are; 0 = no limit. */
  clientLimit: number;
  clients: number;
  isPaused: boolean;
  isDisabled: boolean;
}

/** The pools of a check's rows, without the console's own. */
export function poolsIn(rows: readonly Row[]): Pool[] {
  return rows
    .filter((row) => 'cl_waiting' in row && row['database'] !== CONSOLE)
    .map((row) => {
      const [database, user] = [text(row, 'database'), text(row, 'user')];
      return {
        database,
        user,
        object: `${nameOf(database)}/${nameOf(user)}`,
        waiting: figure(row, 'cl_waiting'),
        waitSeconds: figure(row, 'maxwait') + optional(row, 'maxwait_us') / 1e6,
        clients: figure(row, 'cl_active'),
        active: figure(row, 'sv_active'),
        established: SERVERS.reduce((sum, column) => sum + optional(row, column), 0),
        login: figure(row, 'sv_login'),
      };
    });
}

/** The databases of a check's rows, without the console's own. */
export function databasesIn(rows: readonly Row[]): PooledDatabase[] {
  return rows
    .filter((row) => 'current_connections' in row && 'host' in row && row['name'] !== CONSOLE)
    .map((row) => ({
      name: text(row, 'name'),
      host: row['host'] === null ? null : text(row, 'host'),
      port: figure(row, 'port'),
      poolSize: figure(row, 'pool_size'),
      reserve: optional(row, 'reserve_pool_size') || optional(row, 'reserve_pool'), // until 1.23
      limit: figure(row, 'max_connections'),
      connections: figure(row, 'current_connections'),
      clientLimit: optional(row, 'max_client_connections'),
      clients: optional(row, 'current_client_connections'),
      isPaused: figure(row, 'paused') > 0,
      isDisabled: figure(row, 'disabled') > 0,
    }));
}

/** The pool sizes that users have of their own, by name. */
export function userPoolSizes(rows: readonly Row[]): Map<string, number> {
  return new Map(
    rows.flatMap((row): [string, number][] => {
      if (!('pool_mode' in row) || !('name' in row) || 'host' in row) return [];
      const size = row['pool_size'];
      if (size === undefined || size === null || size === '') return [];
      return [[text(row, 'name'), figure(row, 'pool_size')]];
    }),
  );
}

/** A setting of `show config`; throws if there is none. */
export function settingIn(rows: readonly Row[], name: string): string {
  const row = rows.find((each) => each['key'] === name && 'value' in each);
  if (!row) throw new TypeError(`PgBouncer shows no setting ${name}.`);
  return row['value'] === null ? '' : text(row, 'value');
}

/** A setting that is a number. */
export function numberSetting(rows: readonly Row[], name: string): number {
  return figure({ [name]: settingIn(rows, name) }, name);
}

/** A number of `show lists`; 0 if the version has no such list. */
export function listed(rows: readonly Row[], list: string): number {
  const row = rows.find((each) => each['list'] === list);
  return row ? figure(row, 'items') : 0;
}

/** A name as the console takes it: quoted unless it is a plain word. */
export function nameOf(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : quotedName(name);
}

/** A command about one database. Of a name that does not print, the command that shows it. */
export function commandOn(command: 'RESUME' | 'ENABLE', database: string): string {
  return isPrintable(database)
    ? `SHOW DATABASES; -- when its host and port are right, and the work there is done, run ${command} ${nameOf(database)};`
    : 'SHOW DATABASES;';
}

/** A number of a row, of whatever type: those of `show stats` are numeric. Throws if it is none. */
export function figure(row: Row, column: string): number {
  const value = row[column];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number) || number < 0)
    throw new TypeError(`Column ${column} of PgBouncer's answer must be a number.`);
  return number;
}

function optional(row: Row, column: string): number {
  return column in row ? figure(row, column) : 0;
}

function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw new TypeError(`Column ${column} of PgBouncer's answer must be text.`);
  return value;
}
