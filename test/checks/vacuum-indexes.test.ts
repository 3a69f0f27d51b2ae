import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { SeenJudgement } from '../seen-judgement.ts';
import { measure, sample } from './measure.ts';
import { follow } from './paste.ts';
import { type Login, oldPrograms, PostgresServer, testedPrograms } from './postgres-server.ts';

type Input = Pick<JudgementInput, 'thresholds' | 'before' | 'expectedStandbys'>;

const OLD_ENOUGH = { statistics_days: 0, minimum_bytes: 0 };

const servers = new Map([
  ['the tested', testedPrograms()],
  ...(process.env['TEST_POSTGRES_PROGRAMS'] ? [] : [['the oldest', oldPrograms()] as const]),
]);

describe.each([...servers])('%s PostgreSQL', (_, programs) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start(programs);
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await server.run('drop schema public cascade');
    await server.run('create schema public');
  });

  async function asked<T>(
    login: Login,
    ask: (...of: Parameters<typeof measure>) => Promise<T>,
    id: string,
    given: Input = {},
  ) {
    const check = postgresChecks.find((each) => each.id === id);
    if (!check) throw new Error(`There is no check ${id}.`);
    const client = await server.open(login);
    try {
      return await ask(client, check, given);
    } finally {
      await client.end();
    }
  }
  const judged = (id: string, given: Input = {}, login: Login = 'watcher'): Promise<SeenJudgement> =>
    asked(login, measure, id, given);
  const objects = async (id: string, given: Input = {}) =>
    (await judged(id, given)).faults.map(({ object }) => object);

  async function made(...statements: string[]): Promise<void> {
    for (const statement of statements) await server.run(statement);
  }

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
});
