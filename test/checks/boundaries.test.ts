import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Check, FAULT_LIMIT, TABLE_LIMIT } from '../../src/checks/check.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import { rotate } from '../support/rotation.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { fixableCases, silentCases } from './false-positives.ts';
import { measure } from './measure.ts';
import { follow, stepsOf } from './paste.ts';
import { type Login, oldPrograms, PostgresServer, testedPrograms } from './postgres-server.ts';

/** These compare two runs. */
const comparing = postgresChecks.filter(({ comparesRuns, readsQueries }) => comparesRuns || readsQueries);
/** These are skipped on a new server without an earlier run. */
const later = new Set(['PG_UNUSED_INDEX', ...comparing.map(({ id }) => id)]);

/** As an extension keeps the rows of a user's table, with every fault that it can have. */
const CHUNKS = [
  'create schema chunks',
  'grant usage on schema chunks to watcher',
  'create table r (a int primary key)',
  'create unlogged table chunks.t (a smallserial, b int references r) with (autovacuum_enabled = off)',
  'grant select on all sequences in schema chunks to watcher',
  `select setval('chunks.t_a_seq', 32767)`,
  'create index on chunks.t (a)',
  'create index on chunks.t (a)',
  'create index on chunks.t (a, b)',
  'create index x on chunks.t (a desc)',
  `update pg_index set indisvalid = false where indexrelid = 'chunks.x'::regclass`,
  'alter table chunks.t disable trigger all',
  'alter table chunks.t add constraint k check (b > 0) not valid',
  `create function chunks.f() returns int language sql security definer as 'select 1'`,
  'create table chunks.u (c bigint references r, d_id text, e_id text)',
  'create table chunks.v (d_id text collate "C")',
  ...Array.from({ length: 11 }, (_, n) => `create index on chunks.u (c) where c > ${n}`),
  `update pg_class set relpages = 100000, reltuples = 0 where oid in ('chunks.t'::regclass, 'chunks.t_a_idx'::regclass)`,
];

/** As TimescaleDB keeps them in a schema that the user chose. */
const AS_CHUNKS = [
  'create table hyper ()',
  ...['t', 'u', 'v'].map((name) => `alter table chunks.${name} inherit hyper`),
];

function check(id: string): Check {
  const found = postgresChecks.find((each) => each.id === id);
  if (!found) throw new Error(`There is no check ${id}.`);
  return found;
}

/** The statements that mend the fault, without the look before them and without oids. */
function mending(remediation: string): string {
  return (stepsOf(remediation).join(' ') || remediation).replace(/_\d+"/g, '_…"');
}

const servers = new Map([
  ['the tested', testedPrograms()],
  // The matrix itself covers the oldest version.
  ...(process.env['TEST_POSTGRES_PROGRAMS'] ? [] : [['the oldest', oldPrograms()] as const]),
]);

describe.each([...servers])('%s PostgreSQL', (name, programs) => {
  // The matrix has all of them on PostgreSQL 14.
  const some: typeof rotate = (cases) => (name === 'the oldest' ? rotate(cases) : [...cases]);
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
      await server.run([
        'drop schema public cascade',
        'create schema public',
        'grant usage on schema public to watcher',
      ]);
    });

    async function faults(id: string, statements: string[]): Promise<string[][]> {
      if (statements.length > 0) await server.run(statements);
      const { faults } = await judged(id);
      return faults.map(({ severity, object, remediation }) => [severity, object ?? '', remediation]);
    }

    test.each(some(silentCases))('%s is silent: %s', async (id, _, statements) => {
      expect(await faults(id, statements)).toEqual([]);
    });

    test('nothing in a schema of an extension is altered or dropped', async () => {
      for (const statement of CHUNKS) await server.run(statement);
      const ids = ['DUPLICATE_INDEX', 'FK_UNINDEXED', 'INVALID_INDEX', 'NO_PRIMARY_KEY', 'REDUNDANT_INDEX'];
      const more = ['SEQUENCE_EXHAUSTION', 'DISABLED_TRIGGER', 'TABLE_AUTOVACUUM_OFF', 'UNLOGGED_TABLE'];
      const others = ['INVALID_CONSTRAINT', 'SECDEF_SEARCH_PATH', 'TABLE_BLOAT_EST', 'INDEX_BLOAT_EST'];
      const wide = ['FK_TYPE_MISMATCH', 'MIXED_COLLATIONS', 'TOO_MANY_INDEXES'];
      const all = [...ids, ...more, ...others, ...wide];
      const found = async () => {
        const each = [];
        for (const id of all) if ((await faults(`PG_${id}`, [])).length > 0) each.push(id);
        return each;
      };
      expect(await found()).toEqual(all);
      await server.run('alter extension pg_stat_statements add schema chunks');
      expect(await found()).toEqual([]);
      await server.run('alter extension pg_stat_statements drop schema chunks');

      for (const statement of AS_CHUNKS) await server.run(statement);
      expect(await found()).toEqual(all);
      await server.run(
        `update pg_extension set extname = 'timescaledb' where extname = 'pg_stat_statements'`,
      );
      // Not of the chunks themselves, but of their table, a sequence and a function.
      expect(await found()).toEqual(['NO_PRIMARY_KEY', 'SEQUENCE_EXHAUSTION', 'SECDEF_SEARCH_PATH']);
      expect(await faults('PG_NO_PRIMARY_KEY', [])).toEqual([['info', 'public.hyper', expect.any(String)]]);
      await server.run(
        `update pg_extension set extname = 'pg_stat_statements' where extname = 'timescaledb'`,
      );
      await server.run('drop schema chunks cascade');
    });

    test('a key that is wider than that of a table of an extension takes its type', async () => {
      const statements = [
        'create schema refs',
        'create table refs.systems (a int primary key)',
        'create table places (system bigint references refs.systems)',
      ];
      const [[, , wide] = []] = await faults('PG_FK_TYPE_MISMATCH', statements);
      expect(wide).toBe('ALTER TABLE refs.systems ALTER COLUMN a TYPE bigint;');
      await server.run('alter extension pg_stat_statements add schema refs');
      const [[, , narrow = ''] = []] = await faults('PG_FK_TYPE_MISMATCH', []);
      expect(narrow).toBe('ALTER TABLE public.places ALTER COLUMN system TYPE integer;');
      await server.run(narrow);
      expect(await faults('PG_FK_TYPE_MISMATCH', [])).toEqual([]);
      await server.run('alter extension pg_stat_statements drop schema refs');
      await server.run('drop schema refs cascade');
    });

    test.each(some(fixableCases))(
      '%s finds %j, and its remediation fixes it',
      async (id, statements, expected) => {
        const found = await faults(id, statements);
        expect(
          found.map(([severity, object, remediation = '']) => [severity, object, mending(remediation)]),
        ).toEqual(expected);
        for (const [, , remediation = ''] of found) await follow(server, remediation);
        expect(await faults(id, [])).toEqual([]);
      },
    );

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
      expect(faults).toMatchObject([{ object: 'public', measured: { value: FAULT_LIMIT } }]);
      expect(truncated).toBe(true);
      expect(measures).toMatchObject([
        { metric: 'tables_without_primary_key_count', value: FAULT_LIMIT + 1, warning: 1 },
      ]);
    });

    test('a small duplicate is a note, and what is too small to matter is not said', async () => {
      await server.run('create table r (a numeric primary key)');
      await server.run('create table t (a int references r, b int)');
      await server.run('create index x on t (b)');
      await server.run('create index y on t (b)');
      await server.run('create index z on t (b, a)');
      const client = await server.open('watcher');
      const found = async (id: string, minimum: number) => {
        const thresholds = { minimum_rows: minimum, minimum_bytes: minimum };
        return (await measure(client, check(id), { thresholds })).faults.map(({ severity }) => severity);
      };
      expect(await found('PG_DUPLICATE_INDEX', 0)).toEqual(['warning']);
      expect(await found('PG_DUPLICATE_INDEX', 1_000_000)).toEqual(['info']);
      for (const id of [
        'PG_REDUNDANT_INDEX',
        'PG_FK_UNINDEXED',
        'PG_FK_TYPE_MISMATCH',
        'PG_NO_PRIMARY_KEY',
      ]) {
        expect((await found(id, 0)).length, id).toBeGreaterThan(0);
        expect(await found(id, 1_000_000), id).toEqual([]);
      }
      await client.end();
    });

    test('empty partitioned tables are quiet, and full ones are not', async () => {
      await server.run('create table r (a numeric primary key)');
      await server.run('create table p (a int references r, b int) partition by range (b)');
      await server.run('create table p1 partition of p for values from (1) to (30000)');
      for (let n = 0; n < 11; n++) await server.run(`create index on p ((b + ${n}))`);
      const client = await server.open('watcher');
      const found = async () => {
        const each: string[] = [];
        for (const id of ['NO_PRIMARY_KEY', 'FK_UNINDEXED', 'FK_TYPE_MISMATCH', 'TOO_MANY_INDEXES']) {
          const { faults } = await measure(client, check(`PG_${id}`), {
            thresholds: { minimum_rows: 10_000 },
          });
          if (faults.length > 0) each.push(id);
        }
        return each;
      };
      expect(await found()).toEqual([]);
      await server.run('insert into p (b) select generate_series(1, 10000)');
      await server.run('analyze p1');
      expect(await found()).toEqual([
        'NO_PRIMARY_KEY',
        'FK_UNINDEXED',
        'FK_TYPE_MISMATCH',
        'TOO_MANY_INDEXES',
      ]);
      await client.end();
    });

    test('a partition with a key of its own stands in the way of a key of the whole table', async () => {
      const found = await faults('PG_NO_PRIMARY_KEY', [
        'create table p (id int, k int) partition by list (k)',
        'create table p1 partition of p for values in (1)',
        'create table p2 partition of p for values in (2)',
        'alter table p1 add primary key (id)',
        'create publication keyed_in_part for table p',
      ]);
      expect(found).toEqual([
        ['warning', 'public.p', expect.stringMatching(/^Give each partition without a primary key one/)],
      ]);
      expect(await faults('PG_NO_PRIMARY_KEY', ['alter table p2 add primary key (id)'])).toEqual([]);
    });

    test.each([
      ['nothing', ['alter table t replica identity nothing'], /its replica identity is NOTHING, so updates/],
      [
        'an index that was dropped',
        ['create unique index u on t (a)', 'alter table t replica identity using index u', 'drop index u'],
        /its replica identity is an index that was dropped, so updates/,
      ],
    ])(
      'a published table whose key is not its replica identity, but %s, is no table without a key',
      async (_, made, line) => {
        await server.run(['create table t (id int primary key, a int not null)', ...made]);
        expect((await judged('PG_NO_PRIMARY_KEY')).faults).toEqual([]);
        await server.run('create publication changed for table t');
        await expect(server.run('delete from t')).rejects.toThrow(/replica identity/);
        const [fault] = (await judged('PG_NO_PRIMARY_KEY')).faults;
        expect(fault).toMatchObject({ severity: 'warning', object: 'public.t' });
        expect(fault?.metricLine).toMatch(line);
        await server.run(fault?.remediation ?? '');
        expect((await judged('PG_NO_PRIMARY_KEY')).faults).toEqual([]);
        await server.run(['delete from t', 'drop publication changed']);
      },
    );

    test('of a partitioned table, the partitions whose key is not their replica identity are named', async () => {
      const found = await faults('PG_NO_PRIMARY_KEY', [
        'create table p (id int primary key) partition by list (id)',
        'create table p1 partition of p for values in (1)',
        'create table p2 partition of p for values in (2)',
        'alter table p1 replica identity nothing',
        'create publication of_parts for table p',
      ]);
      expect(found).toEqual([['warning', 'public.p', 'ALTER TABLE public.p1 REPLICA IDENTITY DEFAULT;']]);
    });

    test('a table with foreign partitions can have no key, so its other partitions get theirs', async () => {
      const found = await faults('PG_NO_PRIMARY_KEY', [
        'create foreign data wrapper remote',
        'create server elsewhere foreign data wrapper remote',
        'create table p (id int, k int) partition by list (k)',
        'create table p1 partition of p for values in (1)',
        'create foreign table p2 partition of p for values in (2) server elsewhere',
      ]);
      expect(found).toEqual([
        ['info', 'public.p', expect.stringMatching(/^Give each partition that is stored here a primary key/)],
      ]);
      expect(await faults('PG_NO_PRIMARY_KEY', ['alter table p1 add primary key (id)'])).toEqual([]);
      await server.run('drop foreign data wrapper remote cascade');
    });

    test('a table without a key whose replica identity is nothing gets both in one statement', async () => {
      const [[, , remediation = ''] = []] = await faults('PG_NO_PRIMARY_KEY', [
        'create table t (a int)',
        'alter table t replica identity nothing',
        'create publication mute for table t',
      ]);
      await server.run(remediation);
      await server.run('delete from t');
      expect((await judged('PG_NO_PRIMARY_KEY')).faults).toEqual([]);
    });

    test('a column that nothing else uses is widened without a look first', async () => {
      const [[, , remediation = ''] = []] = await faults('PG_SEQUENCE_EXHAUSTION', [
        'create table t (id int generated always as identity)',
        `select setval('t_id_seq', 2147483647)`,
      ]);
      expect(remediation).toMatch(/^ALTER TABLE public\.t ALTER COLUMN id TYPE bigint; ALTER SEQUENCE /);
    });

    test('a column of a domain over a domain is as narrow as what these are based on', async () => {
      const found = await faults('PG_SEQUENCE_EXHAUSTION', [
        'create domain whole as int',
        'create domain positive as whole check (value > 0)',
        'create sequence s',
        `create table t (a positive default nextval('s'))`,
        `select setval('s', 2147483000)`,
      ]);
      expect(found).toMatchObject([['critical', 'public.s', expect.stringContaining(' TYPE bigint;')]]);
      await server.run('drop table t; DROP DOMAIN positive; DROP DOMAIN whole');
    });

    test('many notes on a schema are one, and its statements mend them', async () => {
      await server.run('create table t (a int, b int)');
      for (const name of ['p', 'q', 'r', '"S; x"']) await server.run(`create index ${name} on t (a)`);
      await server.run('create index whole on t (a, b)');
      const [fault, ...more] = (await judged('PG_REDUNDANT_INDEX')).faults;
      expect(more).toEqual([]);
      expect(fault).toMatchObject({ severity: 'info', object: 'public', measured: { value: 4 } });
      expect(fault?.metricLine).toContain(
        'schema public has 4 indexes that others cover: public."S; x", public.p',
      );
      await server.run(fault?.remediation ?? '');
      expect((await judged('PG_REDUNDANT_INDEX')).faults).toEqual([]);
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

  test('over 50,000 tables, checks of every table are skipped', async () => {
    await server.run(`
      do $$ begin
        execute (
          select format('insert into pg_class (oid, relname, relnamespace, relkind, %1$s)
                         select 1000000000 + n, concat(''filler '', n), ''public''::regnamespace, ''r'', %1$s
                           from pg_class, generate_series(1, ${TABLE_LIMIT + 1}) n
                          where oid = 1259', string_agg(attname, ', '))
            from pg_attribute
           where attrelid = 'pg_class'::regclass and attnum > 0
             and attname not in ('oid', 'relname', 'relnamespace', 'relkind'));
      end $$`);
    for (const { id, scope } of postgresChecks.filter(
      (check) => check.scope === 'database' || !comparing.includes(check),
    )) {
      const { skipped, skippedForSize } = await judged(id);
      if (scope === 'server' || ['PG_EXTENSION_OUTDATED', 'PG_PUBLIC_CREATE'].includes(id))
        expect(skipped, id).toBeUndefined();
      else {
        expect(skipped ?? 'judged', id).toMatch(/50,\d+ tables, more than 50,000/);
        expect(skippedForSize, id).toBe(true);
      }
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
