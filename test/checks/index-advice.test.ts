import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { measure } from '../../src/monitor/measure.ts';
import { target } from '../../src/monitor/run-fixture.ts';
import { follow } from './paste.ts';
import { PASSWORD, PostgresServer, testedPrograms } from './postgres-server.ts';

// A whole run's advice about indexes, followed until nothing is left: nothing that is dropped is asked for again.

const thresholds = {
  PG_UNUSED_INDEX: { minimum_bytes: 0, statistics_days: 0 },
  PG_REDUNDANT_INDEX: { minimum_bytes: 0 },
  PG_DUPLICATE_INDEX: { minimum_bytes: 0 },
  PG_FK_UNINDEXED: { minimum_rows: 0 },
  PG_NO_PRIMARY_KEY: { minimum_rows: 0 },
  PG_INDEX_BLOAT_EST: { warning_bytes: 0 },
};
const ABOUT_INDEXES = new Set(['PG_INVALID_INDEX', ...Object.keys(thresholds)]);

const TABLES = [
  'create table r (a int primary key)',
  'create table s (a int, b int, primary key (a, b))',
  // The only index of a foreign key, which nothing has read yet.
  'create table lone (id int primary key, a int references r)',
  'create index on lone (a)',
  // Two indexes of a foreign key, and nothing has read either.
  'create table pair (id int primary key, a int references r, b int)',
  'create index on pair (a)',
  'create index on pair (a, b)',
  // The short one is read, the long one is not.
  'create table read (id int primary key, a int, b int)',
  'create index read_a on read (a)',
  'set enable_seqscan = off; select from read where a = 1',
  'create index read_ab on read (a, b)',
  'create index read_ab_too on read (a, b)',
  // Foreign keys of which one index serves several.
  'create table keys (id int primary key, a int references r, b int, foreign key (b, a) references s (a, b))',
  // What becomes the primary key has a twin.
  'create table twins (a int not null, b int)',
  'create unique index z_first on twins (a)',
  'create unique index a_second on twins (a)',
  // Invalid ones: with a foreign key, with a twin, and left behind.
  'create table broken (id int primary key, a int references r, b int)',
  'create index broken_a on broken (a)',
  'create index broken_b on broken (b)',
  'create index broken_b_again on broken (b)',
  'create index broken_a_ccnew on broken (a)',
  `update pg_index set indisvalid = false
    where indexrelid in ('broken_a'::regclass, 'broken_b'::regclass, 'broken_a_ccnew'::regclass)`,
  // A build that failed was tried again under other names.
  'create table retried (id int primary key, a int, b int)',
  'create index retried_a on retried (a)',
  'create index retried_a1 on retried (a)',
  'create index retried_ab on retried (a, b)',
  `update pg_index set indisvalid = false
    where indexrelid in ('retried_a'::regclass, 'retried_a1'::regclass, 'retried_ab'::regclass)`,
  // A build that failed, of an index with an expression that another one has.
  'create table worded (id int primary key, a text)',
  'create index worded_l on worded (lower(a))',
  'create index worded_l1 on worded (lower(a))',
  `update pg_index set indisvalid = false where indexrelid = 'worded_l1'::regclass`,
  // What becomes the primary key is a foreign key.
  'create table extended (id int references r, b int)',
];

describe('PostgreSQL', () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await PostgresServer.start(testedPrograms());
  });
  afterAll(() => server.stop());

  async function advice(): Promise<string[]> {
    const { host, port, database } = server;
    const { outcomes } = await measure(
      {
        ...target,
        connectionType: 'unix_socket',
        host,
        port,
        database,
        username: 'watcher',
        password: PASSWORD,
      },
      { allowPrivateTargets: true, thresholds, signal: new AbortController().signal },
    );
    return outcomes
      .flatMap(({ findings }) => findings)
      .filter(
        ({ check_id, status, object }) => ABOUT_INDEXES.has(check_id) && status !== 'ok' && object !== null,
      )
      .map(({ check_id, object, remediation }) => `${check_id} ${object}: ${remediation}`)
      .sort();
  }

  test('the advice of a run can be followed as a whole, and does not come back reversed', async () => {
    for (const statement of TABLES) await server.run(statement);
    await server.until(`select idx_scan = 1 from pg_stat_all_indexes where indexrelname = 'read_a'`);

    const seen: string[][] = [];
    const followed = new Set<string>();
    for (let round = 0; round < 6; round++) {
      const found = await advice();
      if (found.length === 0) break;
      seen.push(found);
      for (const line of found) {
        const statement = line.slice(line.indexOf(': ') + 2);
        expect(followed.has(statement), line).toBe(false);
        followed.add(statement);
        await follow(server, statement);
      }
    }
    expect(seen).toEqual([
      [
        'PG_DUPLICATE_INDEX public.a_second: DROP INDEX CONCURRENTLY public.a_second;',
        'PG_DUPLICATE_INDEX public.read_ab_too: DROP INDEX CONCURRENTLY public.read_ab_too;',
        'PG_FK_UNINDEXED public.keys.keys_b_a_fkey: CREATE INDEX CONCURRENTLY ON public.keys (a, b);',
        'PG_INVALID_INDEX public.broken_a: REINDEX INDEX CONCURRENTLY public.broken_a;',
        'PG_INVALID_INDEX public.broken_a_ccnew: DROP INDEX CONCURRENTLY public.broken_a_ccnew;',
        'PG_INVALID_INDEX public.broken_b: DROP INDEX CONCURRENTLY public.broken_b;',
        'PG_INVALID_INDEX public.retried_a1: DROP INDEX CONCURRENTLY public.retried_a1;',
        'PG_INVALID_INDEX public.retried_a: DROP INDEX CONCURRENTLY public.retried_a;',
        'PG_INVALID_INDEX public.retried_ab: REINDEX INDEX CONCURRENTLY public.retried_ab;',
        'PG_INVALID_INDEX public.worded_l1: DROP INDEX CONCURRENTLY public.worded_l1;',
        'PG_NO_PRIMARY_KEY public.extended: SELECT count(*), count(*) FILTER (WHERE ROW(id) IS NOT NULL), count(DISTINCT ROW(id)) FROM public.extended; -- then, if all three are equal: ALTER TABLE public.extended ADD PRIMARY KEY (id); otherwise correct the rows first',
        'PG_NO_PRIMARY_KEY public.twins: ALTER TABLE public.twins ADD PRIMARY KEY USING INDEX z_first;',
        'PG_UNUSED_INDEX public.pair_a_b_idx: DROP INDEX CONCURRENTLY public.pair_a_b_idx;',
      ],
      [
        'PG_UNUSED_INDEX public.broken_b_again: DROP INDEX CONCURRENTLY public.broken_b_again;',
        'PG_UNUSED_INDEX public.read_ab: DROP INDEX CONCURRENTLY public.read_ab;',
        'PG_UNUSED_INDEX public.retried_ab: DROP INDEX CONCURRENTLY public.retried_ab;',
        'PG_UNUSED_INDEX public.worded_l: DROP INDEX CONCURRENTLY public.worded_l;',
      ],
    ]);
  });
});
