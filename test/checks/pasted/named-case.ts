import { expect } from 'vitest';
import type { Thresholds } from '../../../src/checks/check.ts';
import { waitFor } from '../../support/wait-for.ts';
import { paste, stepsOf } from '../paste.ts';
import type { PostgresServer } from '../postgres-server.ts';

/** Gives a name that begins with its argument. */
export type Naming = (base: string) => string;

/** A fault that was made, and what belongs to it. */
export interface Made {
  /** Causes what the check counts between two runs. The fault is then gone in the next run, whatever was pasted. */
  load?: () => Promise<void>;
  /** Follows steps that take more than one database. */
  mend?: (remediation: string) => Promise<void>;
  /** What must be true after the remediation, besides that the fault is gone. */
  after?: () => Promise<void>;
  end: () => Promise<void>;
}

/** A fault of an object whose name is given. It is caused with a hostile name, and with a name like it. */
export interface NamedCase {
  check_id: string;
  /** What differs from the check's other cases. */
  kind: string;
  thresholds?: Thresholds;
  /** The oldest version that can have it. */
  from?: number;
  /** The check reports nothing. */
  silent?: true;
  /** Its remediation only looks: the fault stays. */
  stays?: true;
  make: (server: PostgresServer, name: Naming) => Promise<Made>;
}

/** A quoted name. */
export function quoting(name: Naming): Naming {
  return (base) => `"${name(base).replaceAll('"', '""')}"`;
}

/** A name as a literal. */
export function literal(name: string): string {
  return `E'${name.replace(/['\\]/g, String.raw`\$&`)}'`;
}

/** Runs statements as the superuser, each as it is; gives the rows of the last. */
export async function run(
  server: PostgresServer,
  ...statements: string[]
): Promise<Record<string, unknown>[]> {
  const client = await server.open();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Waits until a condition is true. */
export const until = (server: PostgresServer, condition: string) =>
  waitFor(async () => expect(Object.values((await run(server, condition))[0] ?? {})).toEqual([true]));

/** The settings of roles and databases. */
export async function settings(server: PostgresServer): Promise<unknown> {
  return run(
    server,
    `
    select datname as database, rolname as role, setconfig as settings
      from pg_db_role_setting
      left join pg_database d on d.oid = setdatabase
      left join pg_roles r on r.oid = setrole`,
  );
}

/** Pastes the look of steps, then what their note says to run in the database. */
export async function inDatabase(
  server: PostgresServer,
  remediation: string,
  database: string,
): Promise<void> {
  await paste(server, remediation);
  for (const statement of stepsOf(remediation))
    await paste(server, statement, statement.startsWith('ALTER ') ? server.database : database);
}
