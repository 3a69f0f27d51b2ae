import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { urlOf } from '../../../test/cells/two-cells.ts';
import { command } from '../../../test/contract/command.ts';
import { fixtureJson } from '../../../test/contract/fixture-command.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { inTransaction, openPool } from '../../store/connect.ts';
import { applyMigrations, migrate, readSchema } from '../../store/migrate.ts';

const APPLIED = 14; // the first migrations, as an older version of the program left the store

let store: TestStore;
let folder: string;
let root: pg.Client;
let environment: { DATABASE_URL: string; DBVITALS_SECRET_KEY: string };

beforeAll(async () => {
  store = await startTestStore({ fsync: 'off' });
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-older-'));
  const superuser = await store.superuser();
  await superuser.query('create database older');
  const pool = openPool([{ ...store.address[0], database: 'older' }], 'owner', { max: 1 });
  await inTransaction(pool, async (client) =>
    applyMigrations(client, (await readSchema(client)).pending.slice(0, APPLIED)),
  );
  await pool.end();
  root = await store.superuser('older');
  environment = {
    DATABASE_URL: urlOf(store).replace(/store$/, 'older'),
    DBVITALS_SECRET_KEY: '5e'.repeat(32),
  };
});

afterAll(async () => {
  await store.stop();
  rmSync(folder, { recursive: true });
});

/** Every table, column and row of the list of migrations. */
async function readCatalogue(): Promise<unknown> {
  const { rows } = await root.query(`
    select table_name || '.' || column_name as name from information_schema.columns where table_schema = 'public'
     union all
    select 'applied ' || name from migration
     order by 1`);
  return rows;
}

const failure = (run: Promise<unknown>) =>
  run.then(
    () => 'it succeeded',
    (error: Error) => error.message,
  );

describe('on a store with an older schema', () => {
  let before: unknown;
  beforeAll(async () => {
    before = await readCatalogue();
    writeFileSync(join(folder, 'dbvitals.yaml'), 'accounts:\n  - name: Example\n    plan: team\n');
  });

  test.each([
    ['account', 'list'],
    ['account', 'create', '--name', 'a', '--plan', 'team'],
    ['key', 'list', '--account', '1'],
    ['connection', 'list', '--account', '1'],
    ['member', 'list', '--account', '1'],
    ['check', 'run', '--connection', '1'],
    ['activity', 'tail', '--account', '1'],
    ['activity', 'verify', '--account', '1'],
    ['secret', 'rotate'],
    ['sample-data', '--account', '1'],
    ['top', '--connection', '1'],
    ['load', 'list', '--connection', '1', '--from', '1h'],
    ['episodes', 'list', '--connection', '1'],
    ['alert', 'list', '--account', '1'],
    ['ticket', 'acknowledge', '1', '--account', '1'],
    ['destination', 'list', '--account', '1'],
  ])('%s %s says what to run and changes nothing', async (...words) => {
    expect(await failure(fixtureJson(words, environment))).toMatch(
      /: error: The store lacks \d+ migrations of this version of dbvitals, and nothing was changed: run "[^"]*backup FILE", then "[^"]*migrate"[^\n]*\n$/,
    );
    expect(await readCatalogue()).toEqual(before);
  });

  test('so do the plan of a file, and the monitor', async () => {
    const plan = await command(['apply', '-f', join(folder, 'dbvitals.yaml'), '--plan'], { environment });
    const monitor = await command(['monitor'], { environment });
    for (const { exit, stdout, stderr } of [plan, monitor]) {
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
      expect(stderr).toMatch(/^error: The store lacks \d+ migrations .*\n$/);
    }
    expect(await readCatalogue()).toEqual(before);
  });

  test('it can be backed up before it is migrated', async () => {
    const file = join(folder, 'before-upgrade.backup');
    expect(await fixtureJson(['backup', file], environment)).toMatchObject({
      migration: expect.stringMatching(new RegExp(`^00${APPLIED}_`)),
    });
    expect(await readCatalogue()).toEqual(before);
  });

  test('migrate reports each migration', async () => {
    const { pending } = await fixtureJson<{ pending: { name: string }[] }>(
      ['migrate', '--plan'],
      environment,
    );
    expect(await readCatalogue()).toEqual(before);
    const { applied } = await fixtureJson<{ applied: string[] }>(['migrate'], environment);
    expect(applied).toEqual(pending.map(({ name }) => name));
    expect(await fixtureJson(['account', 'list'], environment)).toEqual([]);
  });
});

test('only serve and migrate make a store the cell of its number', async () => {
  const superuser = await store.superuser();
  await superuser.query('create database apart');
  await migrate([{ ...store.address[0], database: 'apart' }]);
  const url = urlOf(store).replace(/store$/, 'apart');
  const file = join(folder, 'cells.yaml');
  writeFileSync(file, JSON.stringify({ cells: [{ id: 1, url }] }), { mode: 0o600 });
  const { DBVITALS_SECRET_KEY } = environment;
  const withFile = { DBVITALS_CELLS_FILE: file, DBVITALS_SECRET_KEY };
  expect(await failure(fixtureJson(['account', 'list'], withFile))).toMatch(
    /error: Cell 1 can't be opened: The store of cell 1 is not set up as cell 1 yet, and nothing was changed: run "[^"]*migrate"/,
  );
  const apart = await store.superuser('apart');
  expect((await apart.query('select from cell')).rowCount).toBe(0);
  await fixtureJson(['migrate'], withFile);
  expect(await fixtureJson(['account', 'list'], withFile)).toEqual([]);
});
