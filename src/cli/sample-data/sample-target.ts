import type pg from 'pg';
import { inTransaction } from '../../store/connect.ts';
import type { ListedCheck } from '../command.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import type { History } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';

/** The connections that have measured values, queries, load and alerts: the first ones. */
const MOST_DETAILED = 20;
const EPOCH_2000_S = 946_684_800;

/** Where sample data is written to. */
export interface SampleTarget {
  writer: pg.Pool;
  accountId: number;
  history: History;
  checks: ReadonlyMap<string, ListedCheck>;
}

/** A connection of sample data with its ids, which are columns of every row about it. */
export interface StoredConnection extends SampleConnection {
  ids: { account_id: number; connection_id: number };
  place: number;
}

/** The first connections of a stored fleet. */
export function firstConnections(
  accountId: number,
  { connections, connectionIds }: SampleFleet & { connectionIds: readonly number[] },
): StoredConnection[] {
  return connections.slice(0, MOST_DETAILED).map((connection, place) => {
    const connection_id = connectionIds[place];
    if (connection_id === undefined) throw new Error('A connection was not stored.');
    return { ...connection, ids: { account_id: accountId, connection_id }, place };
  });
}

/** Writes the rows that `toRows` makes of each of the first connections, by table: each connection in one transaction. */
export async function writeDetails(
  { writer, accountId }: SampleTarget,
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
  toRows: (connection: StoredConnection) => Readonly<Record<string, readonly object[]>>,
  then: (client: pg.ClientBase, connection: StoredConnection) => Promise<void> = async () => {},
): Promise<void> {
  const detailed = firstConnections(accountId, fleet);
  for (const connection of detailed) {
    const tables = toRows(connection);
    await inTransaction(writer, async (client) => {
      for (const [table, rows] of Object.entries(tables)) {
        await insertRows(
          client,
          table,
          rows.map((row) => ({ ...connection.ids, ...row })),
        );
      }
      await then(client, connection);
    });
    step(connection.place + 1, detailed.length);
  }
}

/** Inserts rows in their order. Each has the columns of the first. Returns what `returning` names. */
export async function insertRows<T extends object>(
  client: pg.ClientBase,
  table: string,
  rows: readonly object[],
  returning?: string,
): Promise<T[]> {
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  if (columns === '') return [];
  const insert = `
    insert into ${table} (${columns})
    select ${columns} from json_populate_recordset(null::${table}, $1::json)
    ${returning === undefined ? '' : `returning ${returning}`}`;
  return (await client.query<T>(insert, [JSON.stringify(rows)])).rows;
}

/** A timestamp for PostgreSQL of microseconds since 1970. */
export function toTimestamp(instant: number): string {
  const micros = String(instant % 1_000).padStart(3, '0');
  return new Date(Math.floor(instant / 1_000)).toISOString().replace('Z', `${micros}Z`);
}

/** A timestamp of Unix seconds, rounded as PostgreSQL's `to_timestamp` does: a half to the even microsecond since 2000. */
export function secondsToTimestamp(seconds: number): string {
  const exact = (seconds - EPOCH_2000_S) * 1e6;
  const up = Math.round(exact);
  const isHalf = up - exact === 0.5;
  return toTimestamp((isHalf && up % 2 !== 0 ? up - 1 : up) + EPOCH_2000_S * 1e6);
}
