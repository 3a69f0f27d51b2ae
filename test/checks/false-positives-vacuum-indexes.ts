/** Cases of vacuum and indexes: the check, why it is silent, and statements that show it. */
export const silentVacuumAndIndexes: [string, string, string[]][] = [
  [
    'PG_TABLE_AUTOVACUUM_OFF',
    'it was turned on again, and other parameters are set',
    [
      'create table t (a int) with (autovacuum_enabled = on, autovacuum_vacuum_scale_factor = 0, fillfactor = 50)',
    ],
  ],
  [
    'PG_STALE_STATS',
    'it was analyzed within the hour',
    [
      'create table t (a int) with (autovacuum_enabled = off)',
      'analyze t',
      'insert into t select generate_series(1, 20000)',
    ],
  ],
  [
    'PG_STALE_STATS',
    'under twice its own trigger',
    [
      'create table t (a int) with (autovacuum_analyze_threshold = 10000, autovacuum_enabled = off)',
      'insert into t select generate_series(1, 15000)',
    ],
  ],
  [
    'PG_STALE_STATS',
    'it was just loaded, and autovacuum has had no time',
    ['create table t (a int)', 'insert into t select generate_series(1, 20000)'],
  ],
  [
    'PG_DEAD_TUPLES',
    'its rows were just deleted, and autovacuum has had no time',
    ['create table t (a int)', 'insert into t select generate_series(1, 20000)', 'delete from t'],
  ],
  [
    'PG_REDUNDANT_INDEX',
    'it is unique',
    ['create table t (a int unique, b int)', 'create index on t (a, b)'],
  ],
  [
    'PG_REDUNDANT_INDEX',
    'the columns come later in the longer one',
    ['create table t (a int, b int)', 'create index on t (b)', 'create index on t (a, b)'],
  ],
  [
    'PG_REDUNDANT_INDEX',
    'other order, operator class, collation, or predicate',
    [
      'create table t (a text, b int)',
      'create index on t (a)',
      'create index on t (a desc, b)',
      'create index on t (a text_pattern_ops, b)',
      'create index on t (a collate "POSIX", b)',
      'create index on t (a, b) where b > 1',
    ],
  ],
  [
    'PG_REDUNDANT_INDEX',
    'the longer index lacks an included column, or is invalid',
    [
      'create table t (a int, b int, c int)',
      'create index on t (a) include (c)',
      'create index x on t (a, b)',
      'create index y on t (a, c)',
      `update pg_index set indisvalid = false where indexrelid = 'y'::regclass`,
    ],
  ],
  [
    'PG_REDUNDANT_INDEX',
    'equal indexes are duplicates, and expressions are not columns',
    [
      'create table t (a int, b int)',
      'create index on t (a)',
      'create index on t (a)',
      'create index on t ((a + 1))',
      'create index on t ((a + 1), b)',
    ],
  ],
  [
    'PG_REDUNDANT_INDEX',
    'another access method serves other queries',
    [
      'create table t (a int, b int)',
      'create index on t using hash (a)',
      'create index on t using brin (a, b)',
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'CLUSTER uses the one, and the other is the replica identity',
    [
      'create table t (a int not null)',
      'create unique index x on t (a)',
      'create unique index y on t (a)',
      'alter table t cluster on x',
      'alter table t replica identity using index y',
    ],
  ],
  [
    'PG_FK_UNINDEXED',
    'an invalid index, which PG_INVALID_INDEX asks to rebuild',
    [
      'create table r (a int primary key)',
      'create table t (a int references r)',
      'create index x on t (a)',
      `update pg_index set indisvalid = false where indexrelid = 'x'::regclass`,
    ],
  ],
  [
    'PG_FK_UNINDEXED',
    'each partition has an index of its own, under its own column numbers',
    [
      'create table r (a int primary key)',
      'create table p (a int references r, b int) partition by list (b)',
      'create table p1 partition of p for values in (1) partition by list (b)',
      'create table p11 partition of p1 for values in (1)',
      'create table p2 (b int, c int, a int)',
      'alter table p2 drop c',
      'alter table p attach partition p2 for values in (2)',
      'create index on p11 (a)',
      'create index on p2 (a)',
    ],
  ],
  [
    'PG_TOO_MANY_INDEXES',
    'exactly ten indexes, and a partition counts with its parent',
    [
      'create table t (a int)',
      ...Array.from({ length: 10 }, (_, n) => `create index on t ((a + ${n}))`),
      'create table p (a int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
    ],
  ],
];

/** The check, statements that cause findings, and the findings: severity, object, remediation. */
export const fixableVacuumAndIndexes: [string, string[], string[][]][] = [
  [
    'PG_TABLE_AUTOVACUUM_OFF',
    [
      'create table "T" (a text) with (autovacuum_enabled = off, toast.autovacuum_enabled = 0)',
      'create materialized view m with (autovacuum_enabled = no) as select 1 as one',
      'create table x (a text) with (toast.autovacuum_enabled = f)',
    ],
    [
      [
        'warning',
        'public."T"',
        'ALTER TABLE public."T" RESET (autovacuum_enabled, toast.autovacuum_enabled);',
      ],
      ['warning', 'public.m', 'ALTER MATERIALIZED VIEW public.m RESET (autovacuum_enabled);'],
      ['warning', 'public.x', 'ALTER TABLE public.x RESET (toast.autovacuum_enabled);'],
    ],
  ],
  [
    'PG_INVALID_INDEX',
    [
      'create table p (a int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
      'create table p2 partition of p for values from (9) to (19)',
      'create index x on only p (a)',
      'create index y on p1 (a)',
      'create index z on p2 (a)',
      `update pg_index set indisvalid = false where indexrelid = 'z'::regclass`,
      'alter index x attach partition y',
      'alter index x attach partition z',
      'reindex index z',
    ],
    [['warning', 'public.x', 'ALTER INDEX public.x ATTACH PARTITION public.y;']],
  ],
  [
    'PG_INVALID_INDEX',
    [
      'create table t (a int, b int)',
      'create index x on t (a)',
      'create index y on t (a, b)',
      `update pg_index set indisvalid = false where indexrelid = 'x'::regclass`,
    ],
    [['warning', 'public.x', 'DROP INDEX CONCURRENTLY public.x;']],
  ],
  [
    'PG_DUPLICATE_INDEX',
    [
      'create table t (a int)',
      'create index x on t (a)',
      'create index y on t (a)',
      'alter table t cluster on y',
    ],
    [['warning', 'public.x', 'DROP INDEX CONCURRENTLY public.x;']],
  ],
  [
    'PG_REDUNDANT_INDEX',
    [
      'create table t (a int, b int, c int, primary key (a, b))',
      'create index x on t (a)',
      'create index y on t (a, b) include (c)',
    ],
    [['info', 'public.x', 'DROP INDEX CONCURRENTLY public.x;']],
  ],
  [
    'PG_REDUNDANT_INDEX',
    [
      'create table p (a int, b int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
      'create index x on p (a) where b > 1',
      'create index y on p (a, (b + 1)) where b > 1',
    ],
    [['info', 'public.x', 'DROP INDEX public.x;']],
  ],
];
