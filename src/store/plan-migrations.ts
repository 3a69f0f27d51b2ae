import type pg from 'pg';
import type { StoreAddress } from '../config/store-url.ts';
import { openPool } from './connect.ts';
import { type Migration, readSchema } from './migrate.ts';
import { one } from './one.ts';

/** A migration that is not applied yet. */
export interface PlannedMigration {
  name: string;
  /** The first sentence of its file. */
  what: string;
  /** The estimated duration in seconds, from the rows and the measurement in its file; 0 = it reads no rows. */
  seconds: number;
  /** How many rows it reads, by table. */
  rows: Record<string, number>;
}

// PostgreSQL's own estimate, which costs nothing; -1 = not analyzed yet.
const selectRows = 'select reltuples::bigint as rows from pg_class where oid = to_regclass($1)';

/** Returns what each missing migration would do and about how long it would take. Changes nothing. Throws like `migrate`. */
export async function planMigrations(address: StoreAddress): Promise<PlannedMigration[]> {
  const pool = openPool(address, 'owner', { max: 1 });
  try {
    const planned: PlannedMigration[] = [];
    for (const migration of (await readSchema(pool)).pending) planned.push(await plan(pool, migration));
    return planned;
  } finally {
    await pool.end();
  }
}

async function plan(pool: pg.Pool, { name, sql }: Migration): Promise<PlannedMigration> {
  const { what, perRow } = describeMigration(sql);
  const planned: PlannedMigration = { name, what, seconds: 0, rows: {} };
  for (const [table, microseconds] of Object.entries(perRow)) {
    const rows = await countRows(pool, table);
    planned.rows[table] = rows;
    planned.seconds += (rows * microseconds) / 1e6;
  }
  return planned;
}

async function countRows(pool: pg.Pool, table: string): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>(selectRows, [table]);
  const estimate = rows[0]?.rows ?? 0;
  if (estimate >= 0) return estimate;
  const counted = await pool.query<{ rows: number }>(`select count(*) as rows from ${table}`);
  return one(counted.rows, 'count the rows of a table').rows;
}

/**
 * Reads the first lines of a migration: a sentence, and the time per row of the tables that it reads, such as
 * `-- Takes 2.6 µs a row of activity.`
 */
export function describeMigration(sql: string): { what: string; perRow: Record<string, number> } {
  const [head = ''] = /^(?:--.*\n)+/.exec(sql) ?? [];
  const text = head.replace(/^-- ?/gm, '').replace(/\s+/g, ' ');
  const [, what = text] = /^(.*?\.)(?: |$)/.exec(text) ?? [];
  const times = [...head.matchAll(/^-- Takes ([0-9.]+) µs a row of ([a-z_]+)\.$/gm)];
  return { what, perRow: Object.fromEntries(times.map(([, time, table]) => [table, Number(time)])) };
}
