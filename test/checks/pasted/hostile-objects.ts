import type { Thresholds } from '../../../src/checks/check.ts';

/** A fault of an object whose names are given, as statements. It is caused with hostile names, and with names like them. */
export interface HostileCase {
  check_id: string;
  /** What differs from the check's other cases. */
  kind: string;
  thresholds?: Thresholds;
  /** `q` quotes a name that begins with its argument; all are in the schema `q('s')`. */
  make: (q: (base: string) => string) => string[];
  /** What the check counts between two runs. */
  load?: (q: (base: string) => string) => string[];
  /** The check reports nothing. */
  silent?: true;
  /** Its remediation only looks: the fault stays. */
  stays?: true;
}

const t = (q: (base: string) => string) => `${q('s')}.${q('t')}`;
const u = (q: (base: string) => string) => `${q('s')}.${q('u')}`;

/** Cases of what is in a database. */
export const hostileObjects: HostileCase[] = [
  {
    check_id: 'PG_DEAD_TUPLES',
    kind: 'table',
    make: (q) => [
      `create table ${t(q)} (id int primary key)`,
      `insert into ${t(q)} select generate_series(1, 15000)`,
      `delete from ${t(q)} where id <= 12000`,
      `analyze ${t(q)}`,
    ],
  },
  {
    check_id: 'PG_STALE_STATS',
    kind: 'table',
    make: (q) => [
      `create table ${t(q)} (id int primary key) with (autovacuum_enabled = off)`,
      `insert into ${t(q)} select generate_series(1, 10001)`,
    ],
  },
  {
    check_id: 'PG_TABLE_AUTOVACUUM_OFF',
    kind: 'table',
    make: (q) => [
      `create table ${t(q)} (id int primary key, line text) with (autovacuum_enabled = off, toast.autovacuum_enabled = no)`,
    ],
  },
  {
    check_id: 'PG_TABLE_AUTOVACUUM_OFF',
    kind: 'materialized view',
    make: (q) => [`create materialized view ${t(q)} with (autovacuum_enabled = off) as select 1 as one`],
  },
  {
    check_id: 'PG_TABLE_BLOAT_EST',
    kind: 'table',
    thresholds: { warning_bytes: 10_000_000 },
    make: (q) => [
      `create table ${t(q)} (id int primary key, body text)`,
      `insert into ${t(q)} select n, repeat('x', 500) from generate_series(1, 30000) n`,
      `delete from ${t(q)} where id % 20 <> 0`,
      `vacuum analyze ${t(q)}`,
    ],
  },
  {
    check_id: 'PG_INDEX_BLOAT_EST',
    kind: 'index',
    thresholds: { warning_bytes: 5_000_000 },
    make: (q) => [
      `create table ${t(q)} (id int primary key, name text)`,
      `insert into ${t(q)} select n, 'Guest of the house number ' || md5(n::text) || n from generate_series(1, 150000) n`,
      `create index ${q('i')} on ${t(q)} (name)`,
      `delete from ${t(q)} where id % 20 <> 0`,
      `vacuum analyze ${t(q)}`,
    ],
  },
  {
    check_id: 'PG_INVALID_INDEX',
    kind: 'index',
    make: (q) => [
      `create table ${t(q)} (id int primary key, number int)`,
      `create index ${q('i')} on ${t(q)} (number)`,
      `update pg_index set indisvalid = false where indexrelid = (select oid from pg_class where relname = ${literal(q('i'))})`,
    ],
  },
  {
    check_id: 'PG_INVALID_INDEX',
    kind: 'unique index',
    make: (q) => [
      `create table ${t(q)} (id int primary key, number int)`,
      `create unique index ${q('i')} on ${t(q)} (number)`,
      `update pg_index set indisvalid = false where indexrelid = (select oid from pg_class where relname = ${literal(q('i'))})`,
    ],
  },
  {
    check_id: 'PG_UNUSED_INDEX',
    kind: 'index',
    thresholds: { minimum_bytes: 500_000, statistics_days: 0 },
    make: (q) => [
      `create table ${t(q)} (id int primary key, maker text)`,
      `insert into ${t(q)} select n, 'maker ' || n from generate_series(1, 20000) n`,
      `create index ${q('i')} on ${t(q)} (maker)`,
      `analyze ${t(q)}`,
    ],
  },
  {
    check_id: 'PG_DUPLICATE_INDEX',
    kind: 'index',
    make: (q) => [
      `create table ${t(q)} (id int primary key, n int)`,
      `create index ${q('i')} on ${t(q)} (n)`,
      `create index ${q('j')} on ${t(q)} (n)`,
    ],
  },
  {
    check_id: 'PG_DUPLICATE_INDEX',
    kind: 'constraint',
    make: (q) => [
      `create table ${t(q)} (id int primary key, n int)`,
      `alter table ${t(q)} add constraint ${q('c')} unique (n), add constraint ${q('d')} unique (n)`,
    ],
  },
  {
    check_id: 'PG_DUPLICATE_INDEX',
    kind: 'partitioned index',
    make: (q) => [
      `create table ${t(q)} (id int primary key, n int) partition by hash (id)`,
      `create table ${u(q)} partition of ${t(q)} for values with (modulus 1, remainder 0)`,
      `create index ${q('i')} on ${t(q)} (n)`,
      `create index ${q('j')} on ${t(q)} (n)`,
    ],
  },
  {
    check_id: 'PG_REDUNDANT_INDEX',
    kind: 'index',
    make: (q) => [
      `create table ${t(q)} (id int primary key, n int, m int)`,
      `create index ${q('i')} on ${t(q)} (n)`,
      `create index ${q('j')} on ${t(q)} (n, m)`,
    ],
  },
  {
    check_id: 'PG_FK_UNINDEXED',
    kind: 'table',
    make: (q) => [
      `create table ${u(q)} (id int primary key)`,
      `create table ${t(q)} (id int primary key, ${q('k')} int constraint ${q('f')} references ${u(q)})`,
    ],
  },
  {
    check_id: 'PG_FK_UNINDEXED',
    kind: 'partitioned table, and a second constraint',
    make: (q) => [
      `create table ${u(q)} (id int primary key)`,
      `create table ${t(q)} (id int primary key, ${q('k')} int constraint ${q('f')} references ${u(q)}) partition by hash (id)`,
      `alter table ${t(q)} add constraint ${q('g')} foreign key (${q('k')}) references ${u(q)} on delete cascade`,
    ],
  },
  {
    check_id: 'PG_TOO_MANY_INDEXES',
    kind: 'table',
    thresholds: { info: 1 },
    stays: true,
    make: (q) => [`create table ${t(q)} (id int primary key, n int unique)`],
  },
  {
    check_id: 'PG_SEQ_SCAN_HEAVY',
    kind: 'table',
    stays: true,
    make: (q) => [
      `create table ${t(q)} (id int primary key, n int)`,
      `insert into ${t(q)} select n, n from generate_series(1, 10000) n`,
      `analyze ${t(q)}`,
    ],
    load: (q) => Array.from({ length: 10 }, () => `select from ${t(q)} where n = 7`),
  },
  {
    check_id: 'PG_INVALID_CONSTRAINT',
    kind: 'check',
    make: (q) => [
      `create table ${t(q)} (id int primary key)`,
      `alter table ${t(q)} add constraint ${q('c')} check (id > 0) not valid`,
    ],
  },
  {
    check_id: 'PG_INVALID_CONSTRAINT',
    kind: 'domain',
    make: (q) => [
      `create domain ${t(q)} as int`,
      `alter domain ${t(q)} add constraint ${q('c')} check (value > 0) not valid`,
    ],
  },
  {
    check_id: 'PG_DISABLED_TRIGGER',
    kind: 'trigger',
    make: (q) => [
      `create table ${t(q)} (id int primary key)`,
      `create trigger ${q('g')} before update on ${t(q)} for each row execute function suppress_redundant_updates_trigger()`,
      `alter table ${t(q)} disable trigger ${q('g')}`,
    ],
  },
  {
    check_id: 'PG_DISABLED_TRIGGER',
    kind: 'constraint',
    make: (q) => [
      `create table ${u(q)} (id int primary key)`,
      `create table ${t(q)} (id int primary key constraint ${q('f')} references ${u(q)})`,
      `alter table ${t(q)} disable trigger all`,
    ],
  },
  {
    check_id: 'PG_EVENT_TRIGGER_DISABLED',
    kind: 'event trigger',
    make: (q) => [
      `create function ${t(q)}() returns event_trigger language plpgsql as 'begin end'`,
      `create event trigger ${q('e')} on sql_drop execute function ${t(q)}()`,
      `alter event trigger ${q('e')} disable`,
    ],
  },
  {
    check_id: 'PG_COLLATION_VERSION',
    kind: 'collation',
    make: (q) => [
      `create collation ${q('s')}.${q('c')} (provider = icu, locale = 'de')`,
      `create table ${t(q)} (id int primary key, word text collate ${q('s')}.${q('c')})`,
      `update pg_collation set collversion = '1' where oid >= 16384 and collversion is not null`,
    ],
  },
  {
    check_id: 'PG_UNLOGGED_TABLE',
    kind: 'table',
    make: (q) => [`create unlogged table ${t(q)} (id int primary key)`],
  },
  {
    check_id: 'PG_SECDEF_SEARCH_PATH',
    kind: 'function',
    make: (q) => [
      `create type ${u(q)} as enum ('a')`,
      `create function ${t(q)} (int, ${u(q)}) returns int language sql security definer as 'select 1'`,
    ],
  },
];

/** A quoted name as a literal. */
function literal(quoted: string): string {
  return `E'${quoted.slice(1, -1).replaceAll('""', '"').replace(/['\\]/g, String.raw`\$&`)}'`;
}
