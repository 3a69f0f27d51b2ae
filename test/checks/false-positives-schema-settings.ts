/** Cases of schema, configuration and security: the check, why it is silent, and statements that show it. */
export const silentSchemaAndSettings: [string, string, string[]][] = [
  [
    'PG_INVALID_CONSTRAINT',
    'it was validated',
    [
      'create table t (a int)',
      'alter table t add check (a > 0) not valid',
      'alter table t validate constraint t_a_check',
    ],
  ],
  [
    'PG_DISABLED_TRIGGER',
    'it is a REPLICA or ALWAYS trigger',
    [
      'create table t (a int)',
      'create trigger r before update on t for each row execute function suppress_redundant_updates_trigger()',
      'create trigger a before update on t for each row execute function suppress_redundant_updates_trigger()',
      'alter table t enable replica trigger r, enable always trigger a',
    ],
  ],
  ['PG_UNLOGGED_TABLE', 'a sequence and an index hold no rows', ['create table t (a serial primary key)']],
  [
    'PG_FK_TYPE_MISMATCH',
    'a domain counts as its base type, varchar as text, and lengths are ignored',
    [
      'create domain number as int',
      'create table r (a int primary key, b text unique, c varchar(9) unique)',
      'create table t (a number references r, b varchar references r (b), c varchar(5) references r (c))',
    ],
  ],
  [
    'PG_MIXED_COLLATIONS',
    'names that refer to nothing, one collation, other types, and views',
    [
      'create table a (note text collate "C", user_id text, shop_id int, role_key name, town_id text)',
      'create table b (note text, user_id varchar(9), shop_id int, role_key text collate "C")',
      'create view v as select user_id collate "C" as user_id from a',
      'create temporary table c (town_id text collate "C")',
    ],
  ],
  [
    'PG_SECDEF_SEARCH_PATH',
    'it has a search_path, even if empty, or is SECURITY INVOKER',
    [
      `create function a() returns int language sql security definer set search_path = '' as 'select 1'`,
      `create function b() returns int language sql security definer set search_path = public, pg_temp as 'select 1'`,
      `create function c() returns int language sql as 'select 1'`,
    ],
  ],
  [
    'PG_PUBLIC_CREATE',
    'one role has CREATE, PUBLIC only USAGE',
    ['grant create on schema public to app', 'grant usage on schema public to public'],
  ],
  [
    'PG_PUBLIC_CREATE',
    'there is no such schema',
    [
      'drop schema public',
      'create schema other',
      'grant create on schema other to public',
      'drop schema other',
      'create schema public',
    ],
  ],
];

/** The check, statements that cause findings, and the findings: severity, object, remediation. */
export const fixableSchemaAndSettings: [string, string[], string[][]][] = [
  [
    'PG_INVALID_CONSTRAINT',
    [
      'create table r (a int primary key)',
      'create table "T" (a int)',
      'alter table "T" add constraint "F" foreign key (a) references r not valid',
    ],
    [['warning', 'public."T"."F"', 'ALTER TABLE public."T" VALIDATE CONSTRAINT "F";']],
  ],
  [
    'PG_INVALID_CONSTRAINT',
    [
      'create domain d as int',
      'create table t (a d)',
      'alter domain d add constraint positive check (value > 0) not valid',
    ],
    [['warning', 'public.d.positive', 'ALTER DOMAIN public.d VALIDATE CONSTRAINT positive;']],
  ],
  [
    'PG_INVALID_CONSTRAINT',
    [
      'create table p (a int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
      'alter table p add constraint c check (a > 0) not valid',
    ],
    [['warning', 'public.p.c', 'ALTER TABLE public.p VALIDATE CONSTRAINT c;']],
  ],
  [
    'PG_DISABLED_TRIGGER',
    [
      'create table r (a int primary key)',
      'create table t (a int constraint f references r)',
      'alter table t disable trigger all',
    ],
    [
      [
        'warning',
        'public.t.f',
        'ALTER TABLE public.t ENABLE TRIGGER "RI_ConstraintTrigger_c_…"; ALTER TABLE public.t ENABLE TRIGGER "RI_ConstraintTrigger_c_…";',
      ],
    ],
  ],
  [
    'PG_DISABLED_TRIGGER',
    [
      'create table p (a int) partition by range (a)',
      'create table p1 partition of p for values from (1) to (9)',
      'create trigger g before update on p for each row execute function suppress_redundant_updates_trigger()',
      'alter table p disable trigger g',
    ],
    [['warning', 'public.p.g', 'ALTER TABLE public.p ENABLE TRIGGER g;']],
  ],
  [
    'PG_FK_TYPE_MISMATCH',
    [
      'create table r (a bigint, b numeric(9, 2), c int, primary key (a, b, c))',
      'create table t (a int, "B" int, c int, constraint f foreign key (a, "B", c) references r)',
    ],
    [
      [
        'info',
        'public.t.f',
        'ALTER TABLE public.t ALTER COLUMN a TYPE bigint, ALTER COLUMN "B" TYPE numeric(9,2);',
      ],
    ],
  ],
  [
    'PG_FK_TYPE_MISMATCH',
    [
      'create table "R" (a smallint, b text, primary key (a, b))',
      'create table t (a int, b char(3), constraint f foreign key (a, b) references "R")',
    ],
    [
      [
        'info',
        'public.t.f',
        'ALTER TABLE public.t ALTER COLUMN b TYPE text; ALTER TABLE public."R" ALTER COLUMN a TYPE integer;',
      ],
    ],
  ],
  [
    'PG_FK_TYPE_MISMATCH',
    [
      'create table r (a bigint primary key)',
      'create table p (a int references r, b int) partition by range (b)',
      'create table p1 partition of p for values from (1) to (9)',
    ],
    [['info', 'public.p.p_a_fkey', 'ALTER TABLE public.p ALTER COLUMN a TYPE bigint;']],
  ],
  [
    'PG_SECDEF_SEARCH_PATH',
    [`create procedure "P"(a int) language sql security definer set work_mem = '1MB' as 'select 1'`],
    [
      [
        'warning',
        'public."P"(integer)',
        'ALTER ROUTINE public."P"(integer) SET search_path = public, pg_temp;',
      ],
    ],
  ],
];
