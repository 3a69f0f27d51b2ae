import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { judgeOn, OLD_ENOUGH } from './judge-on.ts';
import { sample } from './measure.ts';
import { follow, isSteps, paste } from './paste.ts';
import { type Login, PostgresServer, testedPrograms } from './postgres-server.ts';

describe('PostgreSQL', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start(testedPrograms());
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.run('drop schema public cascade');
    await server.run('create schema public');
  });

  const { asked, judged, objects, made } = judgeOn(() => server);

  describe('unused indexes', () => {
    test('used, unique, constraint and partition indexes are no fault', async () => {
      await made(
        'create table t (a int primary key, b int unique, c int not null, exclude using btree (b with =))',
        'create unique index on t (c)',
        'create table p (a int) partition by range (a)',
        'create table p1 partition of p for values from (1) to (9)',
        'create index on p (a)',
        'create table u (a int)',
        'create index used on u (a)',
      );
      expect(await objects('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH })).toEqual(['public.used']);
      const session = await server.open();
      await session.query('set enable_seqscan = off');
      await session.query('select from u where a = 1');
      await session.end();
      await server.until(`select idx_scan = 1 from pg_stat_all_indexes where indexrelname = 'used'`);
      expect(await objects('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH })).toEqual([]);
    });

    test('an index counts from 10 MB and 35 days of statistics on', async () => {
      await made('create table t (a int)', 'create index x on t (a)');
      expect((await judged('PG_UNUSED_INDEX')).skipped).toMatch(
        /counted for \d+ (s|min), .*it takes 35 days/,
      );
      expect(await objects('PG_UNUSED_INDEX', { thresholds: { statistics_days: 0 } })).toEqual([]);
      expect(await objects('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH })).toEqual(['public.x']);
    });

    test('standbys count their own scans, and the finding says so', async () => {
      await made('create table t (a int)', 'create index x on t (a)');
      const alone = await judged('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH });
      const watched = await judged('PG_UNUSED_INDEX', { thresholds: OLD_ENOUGH, expectedStandbys: 1 });
      expect(alone.faults[0]?.metricLine).not.toContain('standby');
      expect(watched.faults[0]?.metricLine).toContain('its standbys count their own scans');
    });
  });

  describe('estimates', () => {
    const small = { thresholds: { warning_bytes: 1 } };

    test.each([
      ['narrow and padded', 'a int2, b int8, c int2, d int8', '1, n, 2, n', 250_000],
      ['integers', 'a int, b int, c int, d int', 'n, n, n, n', 250_000],
      [
        'text, often null',
        `a int, b text, c text`,
        `n, repeat('x', n % 100), case when n % 2 = 0 then 'y' end`,
        150_000,
      ],
      [
        'large numbers and times',
        'a timestamptz, b numeric, c bool, d uuid',
        'now(), n, true, gen_random_uuid()',
        200_000,
      ],
    ])('a full table is not bloated, nor is its index: %s', async (_, columns, values, rows) => {
      await made(
        `create table t (${columns})`,
        `insert into t select ${values} from generate_series(1, ${rows}) n`,
        'create index on t (b, a)',
        'analyze t',
      );
      const [size] = await server.run(
        `select min(relpages) >= 700 as enough from pg_class where relname ~ '^t$'`,
      );
      expect(size?.['enough']).toBe(true);
      expect(await judged('PG_TABLE_BLOAT_EST', small)).toMatchObject({ faults: [], truncated: false });
      expect(await judged('PG_INDEX_BLOAT_EST', small)).toMatchObject({ faults: [], truncated: false });
    });

    test('hidden statistics are never "ok": the exact GRANT is named, and it helps', async () => {
      await made(
        'create table big (a int, b text)',
        `insert into big select n, repeat('x', 80) from generate_series(1, 110000) n`,
        'create index "I" on big (b, a)',
        'delete from big where a % 20 <> 0',
        'vacuum analyze big',
        'revoke all on big from watcher',
      );
      for (const id of ['PG_TABLE_BLOAT_EST', 'PG_INDEX_BLOAT_EST']) {
        const { skipped, grant = '' } = await judged(id, small, 'stranger');
        expect(skipped, id).toMatch(/statistics of some tables are hidden\. Run GRANT/);
        expect(grant, id).toBe('GRANT SELECT ON ALL TABLES IN SCHEMA public TO stranger;');
        await server.run(grant);
        expect((await judged(id, small, 'stranger')).faults, id).toHaveLength(1);
        await server.run('revoke select on big from stranger');
      }
      await server.run('grant select on big to stranger');
      await server.run('alter table big enable row level security');
      expect((await judged('PG_TABLE_BLOAT_EST', small, 'stranger')).skipped).toContain('row-level security');
    });

    test('a table that was never analyzed is skipped', async () => {
      await made(
        'create table t (a int, b text)',
        `insert into t select n, repeat('x', 80) from generate_series(1, 110000) n`,
        'vacuum t',
        'grant select on t to watcher',
      );
      expect((await judged('PG_TABLE_BLOAT_EST')).skipped).toContain('Run ANALYZE');
    });
  });

  test('sequential scans count only if frequent, on a large table, since the last run, without a reset', async () => {
    await made(
      'create table large (a int)',
      'insert into large select generate_series(1, 10000)',
      'create table little (a int)',
      'insert into little select generate_series(1, 9999)',
      'analyze large',
      'analyze little',
    );
    const read = async (times: number) => {
      for (let n = 0; n < times; n++)
        await made('select from large where a = 1', 'select from little where a = 1');
    };
    const run = async () => ({
      before: { rows: await asked('watcher', sample, 'PG_SEQ_SCAN_HEAVY'), seconds: 300 },
    });
    expect((await judged('PG_SEQ_SCAN_HEAVY')).skipped).toContain('this is the first');
    let before = await run();
    await read(9);
    expect(await objects('PG_SEQ_SCAN_HEAVY', before)).toEqual([]);
    await read(1);
    await server.until(`select seq_scan >= 10 from pg_stat_all_tables where relname = 'large'`);
    expect(await objects('PG_SEQ_SCAN_HEAVY', before)).toEqual(['public.large']);
    before = await run();
    expect(await objects('PG_SEQ_SCAN_HEAVY', before)).toEqual([]);
    await server.run('select pg_stat_reset()');
    await server.until(`select seq_scan = 0 from pg_stat_all_tables where relname = 'large'`);
    expect((await judged('PG_SEQ_SCAN_HEAVY', before)).skipped).toContain('reset');
  });

  describe('what autovacuum has had no time for', () => {
    // Autovacuum naps for a day here, so a table counts from ten days above the trigger on.
    const TEN_NAPS = 10 * 24 * 3600;
    const load = ['create table t (a int)', 'insert into t select generate_series(1, 30000)'];

    test.each([
      ['PG_STALE_STATS', load],
      ['PG_DEAD_TUPLES', [...load, 'delete from t where a > 15000']],
    ])('%s is no fault until ten naps have passed above the trigger', async (id, statements) => {
      await made(...statements);
      await server.settle();
      const young = await judged(id);
      expect(young).toMatchObject({ faults: [], truncated: false });
      expect(young.measures).toContainEqual(
        expect.objectContaining({ object: 'public.t', operator: null, warning: null }),
      );
      const first = { before: { rows: await asked('watcher', sample, id), seconds: TEN_NAPS - 1 } };
      expect(await objects(id, first)).toEqual([]);
      const second = { before: { rows: await asked('watcher', sample, id, first), seconds: 1 } };
      expect(await objects(id, second)).toEqual(['public.t']);
      await made('vacuum analyze t', 'drop table t', ...statements);
      await server.settle();
      const none = { before: { rows: [], seconds: TEN_NAPS } };
      expect(await objects(id, none)).toEqual([]);
    });

    test('where it is off, and of what it knows from before the first run, nobody waits for it', async () => {
      await made('create table t (a int) with (autovacuum_enabled = no)', 'vacuum t', ...load.slice(1));
      await server.settle();
      expect(await objects('PG_STALE_STATS')).toEqual(['public.t']);
      await made('alter table t reset (autovacuum_enabled)', 'delete from t where a > 15000');
      await server.settle();
      expect(await objects('PG_STALE_STATS')).toEqual(['public.t']);
      expect(await objects('PG_DEAD_TUPLES')).toEqual(['public.t']);
    });
  });

  test('checkpoints that somebody asked for do not come from the WAL', async () => {
    const id = 'PG_CHECKPOINTS_REQUESTED';
    const before = { rows: await asked('watcher', sample, id), seconds: 300 };
    for (let times = 0; times < 6; times++) await made('checkpoint');
    await server.settle();
    const { faults, passMessage } = await judged(id, { before });
    expect(faults).toEqual([]);
    expect(passMessage).toContain('6 requested');
  });

  test('a slot without a consumer holds vacuum back', async () => {
    await server.run('alter system set wal_level = logical');
    await server.restart();
    await server.run(`select pg_create_logical_replication_slot('old_one', 'pgoutput')`);
    await made('create table t (a int)', 'create table u (a int)');
    const thresholds = { warning_seconds: 0.01, warning_transactions: 1 };
    expect(await judged('PG_XMIN_HELD')).toMatchObject({ faults: [] });
    const { faults } = await judged('PG_XMIN_HELD', { thresholds });
    expect(faults).toMatchObject([{ severity: 'warning', object: 'slot old_one' }]);
    await follow(server, faults[0]?.remediation ?? '');
    expect(await judged('PG_XMIN_HELD', { thresholds })).toMatchObject({ faults: [] });
  });

  test('an invalid slot holds nothing back; why it is invalid is said, and that no consumer can use it', async () => {
    await server.run([
      'alter system set wal_level = logical',
      `alter system set max_slot_wal_keep_size = '1MB'`,
    ]);
    await server.restart();
    const [{ version } = {}] = await server.run(
      `select current_setting('server_version_num')::int as version`,
    );
    const expectInvalid = async (slot: string, why: RegExp) => {
      await server.until(`select wal_status = 'lost' from pg_replication_slots where slot_name = '${slot}'`);
      const thresholds = { warning_seconds: 0.01, warning_transactions: 1 };
      expect(await objects('PG_XMIN_HELD', { thresholds })).not.toContain(`slot ${slot}`);
      const { faults } = await judged('PG_SLOT_INACTIVE');
      expect(faults).toMatchObject([{ severity: 'critical', object: slot }]);
      expect(faults[0]?.metricLine).toMatch(why);
      expect(faults[0]?.remediation).not.toContain('start its consumer');
      await follow(server, faults[0]?.remediation ?? '');
      expect(await objects('PG_SLOT_INACTIVE')).toEqual([]);
    };
    await server.run(`select pg_create_logical_replication_slot('behind', 'pgoutput')`);
    for (let segments = 0; segments < 3; segments++)
      await made(`create table t${segments} (a int)`, 'select pg_switch_wal()');
    await server.run('checkpoint');
    await expectInvalid('behind', /^Slot behind has lost WAL that its consumer needs; drop the slot/);
    if (Number(version) >= 180_000) {
      await server.configure(
        `ALTER SYSTEM SET idle_replication_slot_timeout = '1s'; SELECT pg_reload_conf()`,
        'idle_replication_slot_timeout',
        '1s',
      );
      await server.run(`select pg_create_logical_replication_slot('idle', 'pgoutput')`);
      await server.until(
        `select inactive_since < now() - interval '1.5 s' from pg_replication_slots where slot_name = 'idle'`,
      );
      await made('create table u (a int)', 'checkpoint');
      await expectInvalid('idle', /^Slot idle had no consumer for longer than idle_replication_slot_timeout/);
    }
    await server.run(['alter system reset all', 'select pg_reload_conf()']);
  });

  describe('sessions', () => {
    const LONG = { warning_seconds: 1, critical_seconds: 3_600, warning_transactions: 1e9 };
    // A lock that a failed test leaves behind would stop the next one.
    afterEach(async () => {
      const [left] = await server.run('select gid from pg_prepared_xacts');
      if (left) await server.run(`rollback prepared 'seven'`);
      await server.run(
        `select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
      );
    });

    const tableOfAll = [
      'grant usage on schema public to public',
      'create table t (a int)',
      'grant all on t to app, stranger',
    ];
    const ofSessions = ['PG_LONG_QUERY', 'PG_LONG_XACT', 'PG_IDLE_IN_TXN', 'PG_XMIN_HELD'];
    const found = async () => {
      const each: Record<string, SeenJudgement['faults']> = {};
      for (const id of [...ofSessions, 'PG_BLOCKED_SESSIONS'])
        each[id] = (await judged(id, { thresholds: LONG })).faults;
      return each;
    };
    const waiting = `select count(*) = 1 and min(waitstart) < now() - interval '1.2 s' from pg_locks where not granted`;

    test('a VACUUM that takes long is one finding, and no advice about others of its name ends it', async () => {
      await made(
        'create table t (a int, b text)',
        "insert into t select n, repeat('x', 500) from generate_series(1, 60000) n",
      );
      const [busy, slow] = [await server.open(), await server.open()];
      const { rows } = await busy.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = rows[0]?.pid;
      await busy.query('set vacuum_cost_delay = 100; set vacuum_cost_limit = 1');
      const vacuumed = busy.query('vacuum t').catch(() => 'cancelled');
      const cancelled = slow.query('select pg_sleep(60)').catch(() => 'cancelled');
      await server.until(
        `select count(*) = 1 from pg_stat_progress_vacuum join pg_stat_activity using (pid) where query_start < now() - interval '1.2 s'`,
      );
      await server.until(
        `select count(*) = 1 from pg_stat_activity where query like 'select pg_sleep(60)' and query_start < now() - interval '1.2 s'`,
      );
      const faults = await found();
      const objects = faults['PG_LONG_QUERY']?.map(({ object }) => object).sort();
      expect(objects).toEqual(['shop/postgres/postgres', 'shop/postgres/postgres (maintenance)']);
      expect(faults['PG_LONG_XACT']?.map(({ object }) => object)).toEqual(['shop/postgres/postgres']);
      for (const { object, metricLine, remediation } of faults['PG_LONG_QUERY'] ?? []) {
        if (object?.endsWith('(maintenance)')) {
          expect(metricLine).toContain('it is maintenance, such as VACUUM or CREATE INDEX: let it end.');
          expect(await server.run(remediation)).toMatchObject([{ pid, query: 'vacuum t' }]);
        } else await follow(server, remediation);
      }
      expect(await cancelled).toBe('cancelled');
      expect(await server.run('select pid from pg_stat_progress_vacuum')).toEqual([{ pid }]);
      await server.run(`select pg_cancel_backend(${pid})`);
      expect(await vacuumed).toBe('cancelled');
      await Promise.all([busy.end(), slow.end()]);
    });

    test.each([
      ['a session', 'shop/stranger/stranger', 'commit'],
      ['a prepared transaction', 'prepared transaction', `prepare transaction 'seven'`],
    ])('what waits for %s is no fault, but what blocks it', async (_, blocker, end) => {
      await made(...tableOfAll);
      const [holder, victim, slow] = await Promise.all(
        ['stranger', 'app', 'app'].map((name) => server.open(name as Login)),
      );
      if (!holder || !victim || !slow) throw new Error('Three sessions were opened.');
      await holder.query('begin; lock table t');
      if (end !== 'commit') await holder.query(end);
      const cancelled = slow.query('select pg_sleep(60)').catch(() => 'cancelled');
      const waits = victim
        .query('begin isolation level repeatable read; select from pg_class; select from t')
        .catch(() => {});
      await server.until(waiting);
      const faults = await found();
      for (const id of ['PG_LONG_XACT', 'PG_LONG_QUERY'])
        expect(faults[id]?.map(({ metricLine }) => metricLine).join(), id).toMatch(
          /app, database shop: 1 session/,
        );
      expect(faults['PG_BLOCKED_SESSIONS']).toMatchObject([{ object: blocker }]);
      await follow(server, faults['PG_LONG_QUERY']?.[0]?.remediation ?? '');
      expect(await cancelled).toBe('cancelled');
      await slow.query('select'); // the server tells of the cancel before it shows the session as idle
      for (const id of ['PG_LONG_QUERY', 'PG_LONG_XACT', 'PG_XMIN_HELD']) {
        const left = (await judged(id, { thresholds: LONG })).faults.map(({ object }) => object ?? '');
        expect(
          left.filter((object) => object.endsWith('app/app')),
          id,
        ).toEqual([]);
      }
      expect(await server.run('select count(*)::int from pg_locks where not granted')).toEqual([
        { count: 1 },
      ]);
      await (end === 'commit' ? holder.query('commit') : server.run(`rollback prepared 'seven'`));
      await waits;
      await Promise.all([holder, victim, slow].map((session) => session.end()));
    });

    test.each([
      ['pg_dump', 'shop/app/pg_dump', 'select from t', 'select pg_sleep(60)'],
      [
        'nightly', // PGAPPNAME: what it reads tells, and what its workers do
        'shop/app/nightly (backup)',
        'select from pg_conversion, pg_default_acl, pg_transform, t',
        'COPY (select pg_sleep(60)) TO stdout',
      ],
    ])('a backup named %s is one finding, and named as such', async (name, object, reads, copies) => {
      await made(...tableOfAll);
      const [leader, worker, waiter] = await Promise.all([
        server.open('app'),
        server.open('app'),
        server.open(),
      ]);
      for (const session of [leader, worker])
        await session.query(`set application_name = '${name}'; begin isolation level repeatable read`);
      await leader.query(`${reads} limit 1`);
      await worker.query('select from t limit 1');
      const copied = worker.query(copies).catch(() => {});
      const waits = waiter.query('begin; lock table t; commit').catch(() => {});
      await server.until(waiting);
      const { PG_LONG_XACT: long = [], PG_BLOCKED_SESSIONS: blocking = [], ...others } = await found();
      expect(Object.values(others).flat()).toEqual([]);
      expect(long).toMatchObject([{ object }]);
      expect(long[0]?.metricLine).toMatch(/2 sessions in one transaction, .*; it is a backup by pg_dump/);
      expect(blocking).toMatchObject([{ object }]);
      expect(blocking[0]?.metricLine).toMatch(/^A backup by pg_dump, shop.* has blocked 1 session/);
      for (const { remediation } of [...long, ...blocking]) {
        expect(isSteps(remediation)).toBe(true);
        expect(await paste(server, remediation)).toContain('active');
      }
      await server.run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'`);
      await Promise.all([copied, waits]);
      await Promise.all([leader, worker, waiter].map((session) => session.end()));
    });
  });

  test('a recent wait is no fault; an old one is found without any privilege', async () => {
    const [holder, waiter] = await Promise.all([server.open('app'), server.open('app')]);
    await holder.query('begin; select pg_advisory_xact_lock(1)');
    const waiting = waiter.query('begin; select pg_advisory_xact_lock(1); commit');
    await server.until('select count(*) = 1 from pg_locks where not granted');
    expect(await judged('PG_BLOCKED_SESSIONS')).toMatchObject({ faults: [], near: [] });
    const thresholds = { warning_seconds: 0, critical_seconds: 1_000 };
    expect(await judged('PG_BLOCKED_SESSIONS', { thresholds }, 'stranger')).toMatchObject({
      faults: [{ severity: 'warning', object: 'shop/app/app' }],
    });
    await holder.query('commit');
    await waiting;
    await Promise.all([holder.end(), waiter.end()]);
  });

  test('what ends a blocker ends none of its application that blocks only for a moment', async () => {
    await made('create table seats (id int primary key)', 'insert into seats values (1), (2), (3)');
    await made('grant usage on schema public to public', 'grant all on seats to app, stranger');
    const take = (seat: number) => `select from seats where id = ${seat} for update`;
    const [root, brief, middle, ...others] = await Promise.all(
      ['app', 'app', 'stranger', 'stranger', 'stranger'].map((login) => server.open(login as Login)),
    );
    const [victim, late] = others;
    if (!root || !brief || !middle || !victim || !late) throw new Error('Five sessions were opened.');
    const waits = (session: pg.Client, seat: number) => session.query(take(seat)).catch(() => {});
    // The victim has waited for the middle one for long, which has waited for the root only since a moment ago.
    await middle.query(`begin; ${take(2)}`);
    const waiting = [waits(victim, 2)];
    await server.until(`select min(waitstart) < now() - interval '1.2 s' from pg_locks where not granted`);
    await root.query(`begin; ${take(1)}`);
    await brief.query(`begin; ${take(3)}`);
    waiting.push(waits(middle, 1), waits(late, 3));
    await server.until('select count(*) = 3 from pg_locks where not granted');
    const { faults } = await judged('PG_BLOCKED_SESSIONS', {
      thresholds: { warning_seconds: 1, critical_seconds: 1_000 },
    });
    expect(faults).toMatchObject([{ object: 'shop/app/app' }]);
    expect(await server.run(faults[0]?.remediation ?? '')).toEqual([{ pg_terminate_backend: true }]);
    expect((await brief.query('select 1 as alive')).rows).toEqual([{ alive: 1 }]);
    await brief.query('commit');
    await middle.query('commit');
    await Promise.all(waiting);
    await Promise.all([root, brief, middle, victim, late].map((session) => session.end()));
  });
});
