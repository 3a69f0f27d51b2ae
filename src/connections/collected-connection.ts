import pg from 'pg';
import { Rejection } from '../platform/rejection.ts';
import { type Engine, traitsOf } from '../vocabulary/engines.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** Which collector measures a connection, and what the collector's file calls it. */
export interface CollectedBy {
  id: number;
  /** The name of the collector. */
  name: string;
  /** The name of the connection in its file. */
  as: string;
}

/** The address of a connection that a collector measures: none. The host names the collector, because callers show a host. */
export function collectedAddress(engine: Engine, collector: string): DatabaseAddress {
  return {
    engine,
    connection_type: 'direct',
    host: `collector/${collector}`,
    port: traitsOf(engine).port,
    database: '',
    username: '',
    password: null,
  };
}

/** What would need the login of a connection, which only its collector has. */
export class CollectedConnection extends Rejection {
  constructor(connectionId: number) {
    super(
      'conflict',
      `Connection ${connectionId} is measured by a collector: its address and login are in the collector's own file.`,
      {
        publicMessage:
          "This connection is measured by a collector: its address and login are in the collector's own file.",
      },
    );
  }
}

/** SQL: whether a collector measures the connection `c`. */
export const isCollected = `
  exists (select from collected_connection m where m.account_id = c.account_id and m.connection_id = c.connection_id)`;

const insert = `
  insert into collected_connection (account_id, connection_id, collector_id, name) values ($1, $2, $3, $4)`;

/** Leaves a new connection to a collector. Throws a {@link Rejection} if the collector has one of this name. */
export async function leaveToCollector(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  { id, name, as }: CollectedBy,
): Promise<void> {
  await client.query(insert, [accountId, connectionId, id, as]).catch((error: unknown) => {
    if (!(error instanceof pg.DatabaseError) || error.constraint !== 'collected_connection_name') throw error;
    throw new Rejection(
      'conflict',
      `Collector ${name} measures a connection "${as}" already: give another name.`,
      { parameter: 'name' },
    );
  });
}

const forget = 'delete from collected_connection where account_id = $1 and connection_id = $2';

/** Takes a removed connection from its collector. */
export async function takeFromCollector(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<void> {
  await client.query(forget, [accountId, connectionId]);
}
