import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Check, FAULT_LIMIT } from '../../src/checks/check.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { SeenJudgement } from '../seen-judgement.ts';
import { fixableCases, silentCases } from './false-positives.ts';
import { measure } from './measure.ts';
import { type Login, oldPrograms, PostgresServer, testedPrograms } from './postgres-server.ts';

/** These are skipped on a new server without an earlier run. */
const later = new Set([
  'PG_UNUSED_INDEX',
  ...postgresChecks.filter(({ comparesRuns }) => comparesRuns).map(({ id }) => id),
]);

function check(id: string): Check {
  const found = postgresChecks.find((each) => each.id === id);
  if (!found) throw new Error(`There is no check ${id}.`);
  return found;
}

const servers = new Map([
  ['the tested', testedPrograms()],
  // The matrix itself covers the oldest version.
  ...(process.env['TEST_POSTGRES_PROGRAMS'] ? [] : [['the oldest', oldPrograms()] as const]),
]);

describe.each([...servers])('%s PostgreSQL', (_, programs) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start(programs);
    await server.run('create schema extras');
    await server.run('grant usage on schema extras to watcher');
  });
  afterAll(() => server.stop());

  async function judged(id: string, login: Login = 'watcher'): Promise<SeenJudgement> {
    const client = await server.open(login);
    try {
      return await measure(client, check(id));
    } finally {
      await client.end();
    }
  }

  describe('objects in their own schema', () => {
    beforeEach(async () => {
      await server.run('drop schema public cascade');
      await server.run('create schema public');
      await server.run('grant usage on schema public to watcher');
    });

    async function faults(id: string, statements: string[]): Promise<string[][]> {
      for (const statement of statements) await server.run(statement);
      const { faults } = await judged(id);
      return faults.map(({ severity, object, remediation }) => [severity, object ?? '', remediation]);
    }

    test.each(silentCases)('%s is silent: %s', async (id, _, statements) => {
      expect(await faults(id, statements)).toEqual([]);
    });

    test.each(fixableCases)('%s finds %j, and its remediation fixes it', async (id, statements, expected) => {
      expect(await faults(id, statements)).toEqual(expected);
      for (const [, , remediation] of expected) await server.run(remediation ?? '');
      expect(await faults(id, [])).toEqual([]);
    });

    test.each([
      ['exactly 10,000', 'autovacuum_enabled = off', 10_000],
      [
        "under the table's own trigger",
        'autovacuum_enabled = off, autovacuum_vacuum_threshold = 100000',
        20_000,
      ],
    ])('PG_DEAD_TUPLES is silent: %s', async (_, storage, rows) => {
      await server.run(`create table t (a int) with (${storage})`);
      await server.run(`insert into t select generate_series(1, ${rows})`);
      await server.run('delete from t');
      await server.until(`select max(n_dead_tup) = ${rows} from pg_stat_user_tables where relname = 't'`);
      expect((await judged('PG_DEAD_TUPLES')).faults).toEqual([]);
    });

    test('a list is truncated at its limit and flagged as truncated', async () => {
      await server.run(
        `do $$ begin for n in 1..${FAULT_LIMIT} loop execute format('create table t%s (a int)', n); end loop; end $$`,
      );
      expect(await judged('PG_NO_PRIMARY_KEY')).toMatchObject({ truncated: false });
      for (const name of ['one', 'two', 'three']) await server.run(`create table ${name}_more (a int)`);
      const { faults, truncated, measures } = await judged('PG_NO_PRIMARY_KEY');
      expect([faults.length, truncated]).toEqual([FAULT_LIMIT, true]);
      expect(measures).toMatchObject([
        { metric: 'tables_without_primary_key_count', value: FAULT_LIMIT + 3, warning: 1 },
      ]);
    });

    test('objects of an extension and temporary tables are ignored', async () => {
      const session = await server.open();
      await session.query('create temp table mine (a int)');
      await session.query('create index on mine (a)');
      await session.query('create index on mine (a)');
      await session.query('create table part (a int)');
      await session.query(`
        insert into pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
        select 'pg_class'::regclass, 'part'::regclass, 0, 'pg_extension'::regclass, oid, 0, 'e'
          from pg_extension where extname = 'plpgsql'`);
      expect((await judged('PG_NO_PRIMARY_KEY')).faults).toEqual([]);
      expect((await judged('PG_DUPLICATE_INDEX')).faults).toEqual([]);
      await session.query(`delete from pg_depend where objid = 'part'::regclass and deptype = 'e'`);
      await session.end();
    });

    test('an index under construction is no fault; another one on the table is judged later', async () => {
      await server.run('create table t (a int primary key, b int)');
      await server.run('insert into t values (1, 1), (2, 1)');
      const [holder, builder] = await Promise.all([server.open(), server.open()]);
      await holder.query('begin; insert into t values (3, 3)');
      const built = builder.query('create index concurrently slow on t (b)');
      for (let tries = 0; tries < 100; tries++) {
        const [row] = await server.run(`select 1 as one from pg_index where not indisvalid`);
        if (row) break;
      }
      expect(await judged('PG_INVALID_INDEX')).toMatchObject({ faults: [], truncated: false });
      expect((await judged('PG_INVALID_INDEX', 'stranger')).skipped).toContain(
        'GRANT pg_monitor TO stranger;',
      );
      await server.run(`update pg_index set indisvalid = false where indexrelid = 't_pkey'::regclass`);
      expect((await judged('PG_INVALID_INDEX')).skipped).toContain('is being built');
      await holder.query('commit');
      await built;
      await Promise.all([holder.end(), builder.end()]);
      expect((await judged('PG_INVALID_INDEX')).faults).toMatchObject([{ object: 'public.t_pkey' }]);
    });

    test('no check waits for a lock', async () => {
      await server.run('create table t (a serial primary key, b int references t)');
      await server.run('insert into t select from generate_series(1, 9)');
      await server.run('create index x on t ((b + 1)) where b > 1');
      const locker = await server.open();
      await locker.query(
        'begin; lock table t; alter table t add column c int; alter sequence t_a_seq cache 2',
      );
      try {
        for (const { id } of postgresChecks) {
          const { skipped } = await judged(id);
          if (id === 'PG_SEQUENCE_EXHAUSTION') expect(skipped).toContain('was being changed');
          else if (!later.has(id)) expect(skipped, id).toBeUndefined();
        }
      } finally {
        await locker.end();
      }
      expect(await judged('PG_SEQUENCE_EXHAUSTION')).toMatchObject({ faults: [], truncated: false });
    });

    test('hidden values are never "ok": the exact GRANT is named, and it helps', async () => {
      await server.run('create sequence s maxvalue 10');
      await server.run('create sequence extras."S"');
      await server.run(`select setval('s', 10)`);
      const { skipped, grant = '' } = await judged('PG_SEQUENCE_EXHAUSTION', 'stranger');
      expect(skipped).toContain(grant);
      expect(grant).toBe('GRANT SELECT ON ALL SEQUENCES IN SCHEMA extras, public TO stranger;');
      await server.run('grant select on sequence s to stranger');
      expect(await judged('PG_SEQUENCE_EXHAUSTION', 'stranger')).toMatchObject({
        faults: [{ object: 'public.s' }],
        truncated: true,
      });
      await server.run(grant);
      expect(await judged('PG_SEQUENCE_EXHAUSTION', 'stranger')).toMatchObject({ truncated: false });
      await server.run('drop sequence extras."S"');
    });
  });

  test('over 20,000 relations, checks of every relation are skipped', async () => {
    await server.run(`
      insert into pg_class
      select (jsonb_populate_record(c, jsonb_build_object('oid', 1000000000 + n, 'relname', 'filler ' || n))).*
        from pg_class c, generate_series(1, 20000) n
       where c.oid = 'pg_am'::regclass`);
    for (const { id, scope } of postgresChecks.filter(
      ({ scope, comparesRuns }) => scope === 'database' || !comparesRuns,
    )) {
      const { skipped } = await judged(id);
      if (scope === 'server' || ['PG_EXTENSION_OUTDATED', 'PG_PUBLIC_CREATE'].includes(id))
        expect(skipped, id).toBeUndefined();
      else expect(skipped, id).toMatch(/20,\d+ relations, more than 20,000/);
    }
    await server.run(`delete from pg_class where relname ~ '^filler '`);
  });

  test('hidden sessions are never "ok": the exact GRANT is named, and it helps', async () => {
    const checks = ['PG_CONN_SATURATION', 'PG_IDLE_IN_TXN', 'PG_LONG_QUERY', 'PG_LONG_XACT', 'PG_XMIN_HELD'];
    for (const id of checks) {
      const { skipped, grant } = await judged(id, 'stranger');
      expect(skipped, id).toMatch(/GRANT pg_monitor TO stranger;$/);
      expect(grant, id).toBe('GRANT pg_monitor TO stranger;');
    }
    await server.run('grant pg_monitor to stranger');
    for (const id of checks) expect((await judged(id, 'stranger')).skipped, id).toBeUndefined();
    await server.run('revoke pg_monitor from stranger');
  });
});
