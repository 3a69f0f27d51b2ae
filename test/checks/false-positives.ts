import { fixableSchemaAndSettings, silentSchemaAndSettings } from './false-positives-schema-settings.ts';
import { fixableVacuumAndIndexes, silentVacuumAndIndexes } from './false-positives-vacuum-indexes.ts';

/** Statements that only PostgreSQL 18 and later know; earlier ones do nothing. */
function since18(...statements: string[]): string[] {
  const made = statements.map((statement) => `execute '${statement}';`).join(' ');
  return [`do $$ begin if current_setting('server_version_num')::int >= 180000 then ${made} end if; end $$`];
}

/** The check, why it is silent, and statements that show it. */
export const silentCases: [string, string, string[]][] = [
  [
    'PG_SECDEF_SEARCH_PATH',
    'its body was parsed when it was made',
    ['create function f() returns int language sql security definer begin atomic select 1; end'],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    'a partition counts with its parent',
    [
      'create table p (id int primary key) partition by range (id)',
      'create table p1 partition of p for values from (1) to (9)',
    ],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    'a view holds no rows',
    ['create view v as select 1 as one', 'create materialized view m as select 1 as one'],
  ],
  [
    'PG_INVALID_INDEX',
    "a partition parent's index waits for its parts",
    [
      'create table p (id int, v int) partition by range (id)',
      'create table p1 partition of p for values from (1) to (9)',
      'create index on only p (v)',
    ],
  ],
  [
    'PG_FK_UNINDEXED',
    'the columns are the first of an index, in another order',
    [
      'create table r (a int, b int, primary key (a, b))',
      'create table t (a int, b int, c int, foreign key (a, b) references r)',
      'create index on t (b, a, c)',
    ],
  ],
  [
    'PG_FK_UNINDEXED',
    'a partial index on the rows that have a value',
    [
      'create table r (a int primary key)',
      'create table t (b int, a int references r)',
      'create index on t (a) where a is not null',
    ],
  ],
  [
    'PG_FK_UNINDEXED',
    'a hash index',
    [
      'create table r (a int primary key)',
      'create table t (a int references r)',
      'create index on t using hash (a)',
    ],
  ],
  [
    'PG_FK_UNINDEXED',
    'a GiST index on the columns before the period of a temporal key (since 18)',
    since18(
      'create table r (a int4range, p tstzrange, primary key (a, p without overlaps))',
      'create table t (a int4range, p tstzrange, foreign key (a, period p) references r (a, period p))',
      'create index on t using gist (a, p)',
    ),
  ],
  [
    'PG_FK_UNINDEXED',
    'a key that is not enforced (since 18)',
    since18('create table r (a int primary key)', 'create table t (a int references r not enforced)'),
  ],
  [
    'PG_FK_UNINDEXED',
    'an index by patterns, which finds equal values too',
    [
      'create table r (a text primary key)',
      'create table t (a text references r)',
      'create index on t (a text_pattern_ops)',
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other operator class',
    ['create table t (a text)', 'create index on t (a)', 'create index on t (a text_pattern_ops)'],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other collation',
    ['create table t (a text)', 'create index on t (a)', 'create index on t (a collate "POSIX")'],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other direction',
    ['create table t (a int, b int)', 'create index on t (a, b)', 'create index on t (a, b desc)'],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other order',
    ['create table t (a int, b int)', 'create index on t (a, b)', 'create index on t (b, a)'],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other predicate',
    [
      'create table t (a int)',
      'create index on t (a)',
      'create index on t (a) where a > 1',
      'create index on t (a) where a > 2',
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other expression',
    ['create table t (a int)', 'create index on t ((a + 1))', 'create index on t ((a + 2))'],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other access method',
    [
      'create table t (a int)',
      'create index on t (a)',
      'create index on t using hash (a)',
      'create index on t using brin (a)',
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'other pages per range',
    [
      'create table t (a int)',
      'create index on t using brin (a)',
      'create index on t using brin (a) with (pages_per_range = 4)',
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'an included column',
    ['create table t (a int, b int)', 'create index on t (a, b)', 'create index on t (a) include (b)'],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    'a unique index that is NULLS NOT DISTINCT identifies the rows, and can not become the key',
    since18('create table t (a int not null)', 'create unique index on t (a) nulls not distinct'),
  ],
  [
    'PG_NO_PRIMARY_KEY',
    'each partition has a key of its own',
    [
      'create table p (id int, k int) partition by list (k)',
      'create table p1 partition of p for values in (1)',
      'create table p2 partition of p for values in (2) partition by list (k)',
      'create table p22 partition of p2 for values in (2)',
      'alter table p1 add primary key (id)',
      'alter table p22 add primary key (id)',
      'create publication all_of_p for table p',
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'a deferrable unique index does not replace a strict one',
    ['create table t (a int primary key deferrable)', 'create unique index on t (a)'],
  ],
  [
    'PG_DUPLICATE_INDEX',
    'each is needed by a foreign key',
    [
      'create table t (a int, unique (a))',
      'create table r (a int primary key references t (a))',
      'alter table t add primary key (a)',
    ],
  ],
  ['PG_SEQUENCE_EXHAUSTION', 'it cycles', ['create sequence s maxvalue 100 cycle', `select setval('s', 99)`]],
  ['PG_SEQUENCE_EXHAUSTION', 'it was never used', ['create sequence s maxvalue 2']],
  [
    'PG_SEQUENCE_EXHAUSTION',
    'it descends, and is at its start',
    ['create sequence s increment -1 minvalue 0 maxvalue 100', `select setval('s', 100)`],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    'it ascends from the lowest number',
    ['create sequence s minvalue -9223372036854775808', `select setval('s', 0)`],
  ],
  ...silentSchemaAndSettings,
  ...silentVacuumAndIndexes,
];

/** The check, statements that cause findings, and the findings: severity, object, remediation. */
export const fixableCases: [string, string[], string[][]][] = [
  [
    'PG_NO_PRIMARY_KEY',
    ['create table "T x" (a int not null, b int not null)', 'create unique index "T i" on "T x" (b, a)'],
    [['info', 'public."T x"', 'ALTER TABLE public."T x" ADD PRIMARY KEY USING INDEX "T i";']],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    ['create table t (id int)'],
    [['info', 'public.t', 'ALTER TABLE public.t ADD PRIMARY KEY (id);']],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    [
      'create table t (id int)',
      `create publication inserts for table t with (publish = 'insert')`,
      'create table u (id int)',
      'alter table u replica identity full',
      'create publication all_rows for table u',
    ],
    [
      ['info', 'public.t', 'ALTER TABLE public.t ADD PRIMARY KEY (id);'],
      ['info', 'public.u', 'ALTER TABLE public.u ADD PRIMARY KEY (id);'],
    ],
  ],
  // PostgreSQL asks the partitions for the identity of a row.
  [
    'PG_NO_PRIMARY_KEY',
    [
      ...['one_of_it', 'root_is_full', 'parts_are_full'].flatMap((name) => [
        `create table ${name} (id int, k int) partition by list (k)`,
        `create table ${name}_1 partition of ${name} for values in (1)`,
      ]),
      'create publication a for table one_of_it_1',
      'alter table root_is_full replica identity full',
      'alter table parts_are_full_1 replica identity full',
      'create publication b for table root_is_full, parts_are_full',
    ],
    [
      ['warning', 'public.one_of_it', 'ALTER TABLE public.one_of_it ADD PRIMARY KEY (id, k);'],
      ['warning', 'public.root_is_full', 'ALTER TABLE public.root_is_full ADD PRIMARY KEY (id, k);'],
      ['info', 'public.parts_are_full', 'ALTER TABLE public.parts_are_full ADD PRIMARY KEY (id, k);'],
    ],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    ['create table t (a int, unique (a))'],
    [['info', 'public.t', 'ALTER TABLE public.t ADD COLUMN id bigserial, ADD PRIMARY KEY (id);']],
  ],
  [
    'PG_NO_PRIMARY_KEY',
    [
      'create table p (a int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
    ],
    [['info', 'public.p', 'ALTER TABLE public.p ADD COLUMN id bigserial, ADD PRIMARY KEY (id, a);']],
  ],
  [
    'PG_DUPLICATE_INDEX',
    ['create table t (a int primary key)', 'create unique index x on t (a)', 'create index y on t (a)'],
    [
      ['warning', 'public.x', 'DROP INDEX CONCURRENTLY public.x;'],
      ['warning', 'public.y', 'DROP INDEX CONCURRENTLY public.y;'],
    ],
  ],
  [
    'PG_DUPLICATE_INDEX',
    ['create table t (a int)', 'create index x on t (a)', 'create unique index y on t (a)'],
    [['warning', 'public.x', 'DROP INDEX CONCURRENTLY public.x;']],
  ],
  [
    'PG_DUPLICATE_INDEX',
    ['create table t (a int primary key)', 'alter table t add unique (a)'],
    [['warning', 'public.t_a_key', 'ALTER TABLE public.t DROP CONSTRAINT t_a_key;']],
  ],
  [
    'PG_DUPLICATE_INDEX',
    [
      'create table t (a int, b text)',
      'create index x on t (lower(b)) where a > 1',
      'create index          y on t (lower(b))    where a > 1',
    ],
    [['warning', 'public.y', 'DROP INDEX CONCURRENTLY public.y;']],
  ],
  [
    'PG_DUPLICATE_INDEX',
    [
      'create table p (a int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
      'create index x on p (a)',
      'create index y on p (a)',
    ],
    [['warning', 'public.y', 'DROP INDEX public.y;']],
  ],
  [
    'PG_FK_UNINDEXED',
    [
      'create table r (a int, b int, primary key (a, b))',
      'create table "T" (a int, "B" int, constraint f foreign key (a, "B") references r)',
      'create index on "T" (a)',
      'create index on "T" (a, "B") where a > 1',
    ],
    [['info', 'public."T".f', 'CREATE INDEX CONCURRENTLY ON public."T" (a, "B");']],
  ],
  [
    'PG_FK_UNINDEXED',
    [
      'create table r (a text primary key)',
      'create table t (a text references r)',
      'create index on t (a collate "POSIX")',
    ],
    [['info', 'public.t.t_a_fkey', 'CREATE INDEX CONCURRENTLY ON public.t (a);']],
  ],
  [
    'PG_FK_UNINDEXED',
    [
      'create table r (a int primary key)',
      'create table p (a int references r) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
    ],
    [['info', 'public.p.p_a_fkey', 'CREATE INDEX ON public.p (a);']],
  ],
  [
    'PG_FK_UNINDEXED',
    [
      'create table r (a int, b int, primary key (a, b)) partition by list (b)',
      'create table r1 partition of r for values in (1)',
      'create table p (a int, b int, foreign key (a, b) references r) partition by list (a)',
      'create table p1 partition of p for values in (1)',
      'create table p2 partition of p for values in (2)',
      'create index on p1 (a, b)',
      'create index on p2 (a)',
    ],
    [['info', 'public.p.p_a_b_fkey', 'CREATE INDEX ON public.p (a, b);']],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    ['create table t (a smallint generated always as identity)', `select setval('t_a_seq', 32767)`],
    [
      [
        'critical',
        'public.t_a_seq',
        'ALTER TABLE public.t ALTER COLUMN a TYPE bigint; ALTER SEQUENCE public.t_a_seq AS bigint NO MAXVALUE;',
      ],
    ],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    ['create sequence s', `create table t (a int default nextval('s'))`, `select setval('s', 1900000000)`],
    [
      [
        'warning',
        'public.s',
        'ALTER TABLE public.t ALTER COLUMN a TYPE bigint; ALTER SEQUENCE public.s AS bigint NO MAXVALUE;',
      ],
    ],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    [
      'create table p (id serial, k int) partition by list (k)',
      'create table p1 partition of p for values in (1)',
      `select setval('p_id_seq', 2147483000)`,
    ],
    [
      [
        'critical',
        'public.p_id_seq',
        'ALTER TABLE public.p ALTER COLUMN id TYPE bigint; ALTER SEQUENCE public.p_id_seq AS bigint NO MAXVALUE;',
      ],
    ],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    [
      'create sequence s',
      `create table t (a numeric(8,2) default nextval('s'))`,
      `select setval('s', 980000)`,
    ],
    [
      [
        'critical',
        'public.s',
        'ALTER TABLE public.t ALTER COLUMN a TYPE numeric(21,2); ALTER SEQUENCE public.s AS bigint NO MAXVALUE;',
      ],
    ],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    ['create sequence s increment -1 minvalue 0 maxvalue 100', `select setval('s', 10)`],
    [['warning', 'public.s', 'ALTER SEQUENCE public.s NO MINVALUE;']],
  ],
  [
    'PG_SEQUENCE_EXHAUSTION',
    ['create sequence s as smallint increment -1', `select setval('s', -32000)`],
    [['critical', 'public.s', 'ALTER SEQUENCE public.s AS bigint NO MINVALUE;']],
  ],
  ...fixableSchemaAndSettings,
  ...fixableVacuumAndIndexes,
];
