import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { everyRow, fillSchema } from '../../test/support/filled-schema.ts';
import { rotate } from '../../test/support/rotation.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { waitForLock } from '../../test/support/wait-for-lock.ts';
import { ENDPOINTS } from '../api/app.ts';
import type { StoreAddress } from '../config/store-url.ts';
import { inPackage } from '../platform/package-root.ts';
import { inTransaction, openPool } from './connect.ts';
import { applyMigrations, migrate, readSchema } from './migrate.ts';
import { describeMigration, planMigrations } from './plan-migrations.ts';
import { readAs } from './read.ts';

const SHIPPED = fileURLToPath(inPackage('migrations'));
const NAMES = readdirSync(SHIPPED)
  .map((file) => file.replace('.sql', ''))
  .toSorted();
const LAST = NAMES.length;

let store: TestStore;
let root: pg.Client;

beforeAll(async () => {
  store = await startTestStore({ fsync: 'off' });
  root = await store.superuser();
});
afterAll(() => store.stop());

async function emptyDatabase(name: string): Promise<StoreAddress> {
  await root.query(`create database ${name}`);
  return [{ ...store.address[0], database: name }];
}

/** Applies the first `count` migrations, like a program that had no more. */
async function migrateTo(address: StoreAddress, count: number): Promise<void> {
  const pool = openPool(address, 'owner', { max: 1 });
  await inTransaction(pool, async (client) => {
    const { pending } = await readSchema(client);
    await applyMigrations(client, pending.slice(0, count));
  });
  await pool.end();
}

/** The answers of every endpoint for an account of {@link fillSchema}. */
async function everyAnswer(address: StoreAddress): Promise<unknown[]> {
  const reader = openPool(address, 'reader', { max: 1, pipeline: true });
  const answers: unknown[] = [];
  for (const accountId of [1, 2]) {
    for (const { answer, path } of ENDPOINTS) {
      const url = `http://localhost/api/v1${path}`;
      // A request that lacks it is refused.
      const query = /(?:health.measures|measures.history)$/.test(path) ? { metric: 'cache_hit_ratio' } : {};
      const asked = { accountId, query, id: String(4 * accountId - 3), url };
      const { result } = await readAs(reader, accountId, (read) => answer(read, asked));
      answers.push({ path, ...result });
    }
  }
  await reader.end();
  return answers;
}

describe('an upgrade', () => {
  let fresh: { rows: Record<string, string[]>; answers: unknown[] };

  beforeAll(async () => {
    const address = await emptyDatabase('fresh');
    await migrate(address);
    const client = await store.superuser('fresh');
    await fillSchema(client, 0, LAST);
    fresh = { rows: await everyRow(client), answers: await everyAnswer(address) };
  });

  test('the reference store has answers, and rows in every table that a migration reads', () => {
    const empty = Object.entries(fresh.rows).filter(([, rows]) => rows.length === 0);
    const unfilled = [
      'asked_inbox',
      'challenge',
      'last_backup',
      'link',
      'pulse_monitor',
      'refused_key',
      'session',
      'sign_in_failure',
      'unsubscribed',
    ];
    expect(empty.map(([name]) => name)).toEqual(unfilled);
    expect(JSON.stringify(fresh.answers)).toContain('"open_count":');
  });

  test.each(
    rotate(
      NAMES.slice(0, -1).map((name, at) => [name, at + 1] as const),
      3,
    ),
  )('of a store that was filled at %s gives the rows and answers of a new store', async (name, count) => {
    const address = await emptyDatabase(`from_${name.slice(0, 4)}`);
    await migrateTo(address, count);
    const client = await store.superuser(`from_${name.slice(0, 4)}`);
    await fillSchema(client, 0, count);
    expect(await migrate(address)).toEqual(NAMES.slice(count));
    await fillSchema(client, count, LAST);
    expect(await everyRow(client)).toEqual(fresh.rows);
    expect(await everyAnswer(address)).toEqual(fresh.answers);
  });
});

describe('the plan', () => {
  test('says what each migration does, and how long it takes for the rows that it reads', async () => {
    const address = await emptyDatabase('planned');
    await migrateTo(address, 3);
    const client = await store.superuser('planned');
    await fillSchema(client, 0, 3);
    const planned = await planMigrations(address);
    expect(planned.map(({ name }) => name)).toEqual(NAMES.slice(3));
    const [retention] = planned;
    expect(retention).toMatchObject({
      what: expect.stringMatching(/^Retention: .*\.$/),
      rows: { activity: 800 },
    });
    expect(retention?.seconds).toBeGreaterThan(0);
    expect(await planMigrations(address)).toEqual(planned); // nothing was changed
    await migrate(address);
    expect(await planMigrations(address)).toEqual([]);
  });

  test('every migration has a first sentence and names only existing tables', async () => {
    const { pending } = await readSchema(await store.superuser('postgres'));
    expect(pending).toHaveLength(LAST);
    const tables = Object.keys(await everyRow(await store.superuser('store')));
    for (const { name, sql } of pending) {
      const { what, perRow } = describeMigration(sql);
      expect(what, name).toMatch(/^[A-Z].{20,200}\.$/);
      expect(tables, name).toEqual(expect.arrayContaining(Object.keys(perRow)));
    }
  });
});

describe('with later migrations', () => {
  let folder: string;
  let address: StoreAddress;
  let client: pg.Client;
  let made = 0;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dbvitals-migrations-'));
    for (const name of NAMES) copyFileSync(join(SHIPPED, `${name}.sql`), join(folder, `${name}.sql`));
    made += 1;
    address = await emptyDatabase(`later_${made}`);
    await migrate(address);
    client = await store.superuser(`later_${made}`);
    return () => rmSync(folder, { recursive: true });
  });

  const add = (name: string, sql: string) => writeFileSync(join(folder, `${name}.sql`), sql);
  const sentence = (work: Promise<unknown>) =>
    work.then(
      () => 'nothing was refused',
      (error: Error) => error.message,
    );

  test('a failed migration also undoes those before it: the old schema stays and works', async () => {
    add('9001_well', 'alter table account add column colour text;');
    add('9002_broken', 'alter table account add column size int;\nselect 1 / 0;');
    const before = await everyRow(client);
    expect(await sentence(migrate(address, folder))).toMatch(
      /^Migration 9002_broken failed and nothing was changed: .* still runs on this store\. PostgreSQL says: division by zero\. Fix this, then start this version again\.$/,
    );
    expect((await readSchema(client, folder)).applied).toEqual(NAMES);
    expect(await everyRow(client)).toEqual(before);
    expect(await migrate(address)).toEqual([]); // the version before starts
    add('9002_broken', 'alter table account add column size int;');
    expect(await migrate(address, folder)).toEqual(['9001_well', '9002_broken']);
  });

  test('an older program rejects the schema of a newer one', async () => {
    add('9001_well', 'alter table account add column colour text;');
    await migrate(address, folder);
    const refusal = `The store's schema is newer than this dbvitals, which does not know 9001_well: start the version that made it, or a later one.`;
    expect(await sentence(migrate(address))).toBe(refusal);
    expect(await sentence(planMigrations(address))).toBe(refusal);
  });

  test('a migration that sorts before an applied one is rejected', async () => {
    add('0000_early', 'select 1');
    expect(await sentence(migrate(address, folder))).toMatch(
      /^The store lacks the migration 0000_early although it has /,
    );
  });

  test('a migration that waits for a long transaction lets all others pass, and is applied afterwards', async () => {
    add('9001_well', 'alter table account add column colour text;');
    const [long, watcher] = [await store.superuser(`later_${made}`), await store.superuser()];
    await long.query('begin; select from account');
    let ended = false;
    const applied = migrate(address, folder).finally(() => {
      ended = true;
    });
    await client.query(`set statement_timeout = '20s'`);
    for (let tries = 0; tries < 3; tries += 1) {
      await waitForLock(watcher);
      await client.query('select from account');
    }
    expect(ended).toBe(false);
    await long.query('commit');
    expect(await applied).toEqual(['9001_well']);
  });
});
