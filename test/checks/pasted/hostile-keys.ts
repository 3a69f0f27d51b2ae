import type { HostileCase } from './hostile-objects.ts';

const t = (q: (base: string) => string) => `${q('s')}.${q('t')}`;
const u = (q: (base: string) => string) => `${q('s')}.${q('u')}`;
const nearTheEnd = (q: (base: string) => string, value = 2_000_000_000) =>
  `select setval(${regclass(`${q('s')}.${q('n')}`)}, ${value})`;

/** Cases of keys, sequences and types. */
export const hostileKeys: HostileCase[] = [
  { check_id: 'PG_NO_PRIMARY_KEY', kind: 'no column id', make: (q) => [`create table ${t(q)} (body text)`] },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'a nullable id',
    make: (q) => [`create table ${t(q)} (id int, body text)`],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'an id of type json',
    stays: true,
    make: (q) => [`create table ${t(q)} (id json)`],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'a unique index',
    make: (q) => [
      `create table ${t(q)} (${q('k')} int not null, m int)`,
      `create unique index ${q('i')} on ${t(q)} (${q('k')}) include (m)`,
    ],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'a unique constraint',
    silent: true,
    make: (q) => [`create table ${t(q)} (${q('k')} int not null unique)`],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'a unique index in descending order',
    silent: true,
    make: (q) => [
      `create table ${t(q)} (k int not null)`,
      `create unique index ${q('i')} on ${t(q)} (k desc)`,
    ],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'a unique constraint, published',
    make: (q) => [
      `create table ${t(q)} (${q('k')} int not null constraint ${q('c')} unique)`,
      `create publication ${q('p')} for table ${t(q)}`,
    ],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'a partial unique index',
    make: (q) => [
      `create table ${t(q)} (k int not null)`,
      `create unique index ${q('i')} on ${t(q)} (k) where k > 0`,
    ],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'partitioned by a nullable column',
    make: (q) => [
      `create table ${t(q)} (${q('k')} int) partition by range (${q('k')})`,
      `create table ${u(q)} partition of ${t(q)} for values from (1) to (9)`,
    ],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'partitioned, with an id',
    make: (q) => [`create table ${t(q)} (id int, ${q('k')} int not null) partition by range (${q('k')})`],
  },
  {
    check_id: 'PG_NO_PRIMARY_KEY',
    kind: 'partitioned by an expression',
    stays: true,
    make: (q) => [`create table ${t(q)} (k int) partition by range ((k + 1))`],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'serial',
    make: (q) => [
      `create sequence ${q('s')}.${q('n')} as int`,
      `create table ${t(q)} (${q('k')} int primary key default nextval(${regclass(`${q('s')}.${q('n')}`)}))`,
      `alter sequence ${q('s')}.${q('n')} owned by ${t(q)}.${q('k')}`,
      nearTheEnd(q),
    ],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'identity',
    make: (q) => [
      `create table ${t(q)} (${q('k')} int generated always as identity (sequence name ${q('s')}.${q('n')}) primary key)`,
      nearTheEnd(q),
    ],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'partitioned, and with a child table',
    make: (q) => [
      `create sequence ${q('s')}.${q('n')} as int`,
      `create table ${t(q)} (${q('k')} int default nextval(${regclass(`${q('s')}.${q('n')}`)}), p int) partition by list (p)`,
      `create table ${u(q)} partition of ${t(q)} for values in (1) partition by list (p)`,
      `create table ${q('s')}.${q('v')} partition of ${u(q)} for values in (1)`,
      `create table ${q('s')}.${q('w')} (${q('k')} int default nextval(${regclass(`${q('s')}.${q('n')}`)}))`,
      `create table ${q('s')}.${q('x')} () inherits (${q('s')}.${q('w')})`,
      nearTheEnd(q),
    ],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'a view on a partition',
    stays: true,
    make: (q) => [
      `create sequence ${q('s')}.${q('n')} as int`,
      `create table ${t(q)} (k int default nextval(${regclass(`${q('s')}.${q('n')}`)}), p int) partition by list (p)`,
      `create table ${u(q)} partition of ${t(q)} for values in (1)`,
      `create view ${q('s')}.${q('v')} as select k from ${u(q)}`,
      nearTheEnd(q),
    ],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'a limit of its own',
    make: (q) => [`create sequence ${q('s')}.${q('n')} maxvalue 2000000001`, nearTheEnd(q)],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'falling',
    make: (q) => [`create sequence ${q('s')}.${q('n')} as int increment -1`, nearTheEnd(q, -2_000_000_000)],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'a view on its column',
    stays: true,
    make: (q) => [
      `create table ${t(q)} (k int generated always as identity (sequence name ${q('s')}.${q('n')}) primary key)`,
      `create view ${u(q)} as select k from ${t(q)}`,
      nearTheEnd(q),
    ],
  },
  {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    kind: 'a domain',
    stays: true,
    make: (q) => [
      `create domain ${u(q)} as int check (value > 0)`,
      `create sequence ${q('s')}.${q('n')} as int`,
      `create table ${t(q)} (k ${u(q)} primary key default nextval(${regclass(`${q('s')}.${q('n')}`)}))`,
      nearTheEnd(q),
    ],
  },
  {
    check_id: 'PG_MIXED_COLLATIONS',
    kind: 'schema',
    stays: true,
    make: (q) => [`create table ${t(q)} (user_id text collate "C")`, `create table ${u(q)} (user_id text)`],
  },
  {
    check_id: 'PG_FK_TYPE_MISMATCH',
    kind: 'a narrower column',
    make: (q) => [
      `create table ${u(q)} (id bigint primary key)`,
      `create table ${t(q)} (id int primary key, ${q('k')} int constraint ${q('f')} references ${u(q)})`,
    ],
  },
  {
    check_id: 'PG_FK_TYPE_MISMATCH',
    kind: 'a wider column',
    make: (q) => [
      `create table ${u(q)} (${q('k')} int primary key)`,
      `create table ${t(q)} (id bigint constraint ${q('f')} references ${u(q)})`,
    ],
  },
  {
    check_id: 'PG_FK_TYPE_MISMATCH',
    kind: 'not integers',
    make: (q) => [
      `create table ${u(q)} (id numeric primary key)`,
      `create table ${t(q)} (k int constraint ${q('f')} references ${u(q)})`,
    ],
  },
  {
    check_id: 'PG_FK_TYPE_MISMATCH',
    kind: 'a trigger and a generated column',
    stays: true,
    make: (q) => [
      `create table ${u(q)} (id bigint primary key)`,
      `create table ${t(q)} (k int constraint ${q('f')} references ${u(q)}, g int generated always as (k + 1) stored)`,
    ],
  },
  {
    check_id: 'PG_UNLOGGED_TABLE',
    kind: 'it references an unlogged one',
    make: (q) => [
      `create unlogged table ${u(q)} (id int primary key)`,
      `create unlogged table ${t(q)} (id int primary key references ${u(q)})`,
    ],
  },
];

function regclass(name: string): string {
  return `E'${name.replace(/['\\]/g, String.raw`\$&`)}'::regclass`;
}
